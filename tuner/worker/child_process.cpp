#include "tuner/worker/child_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "fourtune/status.h"

namespace fourtune::tuner {

ChildProcess::ChildProcess(const std::vector<std::string>& command) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    throw Error(Status::io, std::string("cannot make a socket for the worker: ") + std::strerror(errno));
  std::vector<char*> arguments;
  for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  pid_ = ::fork();
  if (pid_ == 0) {  // only async-signal-safe calls until exec
    if (ends[1] == 3)
      ::fcntl(3, F_SETFD, 0);  // dup2 onto the same descriptor would keep close-on-exec
    else
      ::dup2(ends[1], 3);
    ::execv(arguments[0], arguments.data());
    ::_exit(127);
  }
  ::close(ends[1]);
  pipe_ = LinePipe(ends[0], ends[0]);
  if (pid_ < 0) throw Error(Status::io, std::string("cannot start a worker process: ") + std::strerror(errno));
}

int ChildProcess::end() {
  if (pid_ <= 0) return 0;
  int status = 0;
  // A child that hung up is about to exit with its status: wait a moment for it.
  for (int i = 0; i < 20 && ::waitpid(pid_, &status, WNOHANG) == 0; ++i) {
    if (i == 0 && !hung_up_) ::kill(pid_, SIGKILL);
    ::usleep(5000);
    if (i == 19) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, &status, 0);
    }
  }
  pid_ = -1;
  return status;
}

std::string describe_exit(int status) {
  if (WIFSIGNALED(status)) return std::string("the worker died of signal ") + strsignal(WTERMSIG(status));
  return "the worker ended with exit code " + std::to_string(WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}

}  // namespace fourtune::tuner
