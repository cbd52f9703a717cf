#include "tests/support/terminal.h"

#include <pty.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

namespace fourtune::test {

Finished run_on_terminal(const std::vector<std::string>& words, int columns,
                         const std::vector<std::pair<std::string, std::string>>& environment) {
  std::vector<std::string> all{"/usr/bin/env"};
  for (const auto& [name, value] : environment) all.push_back(name + "=" + value);
  all.insert(all.end(), words.begin(), words.end());
  std::vector<char*> arguments;
  for (std::string& word : all) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  winsize size{24, static_cast<unsigned short>(columns), 0, 0};
  int terminal = -1;
  const pid_t child = forkpty(&terminal, nullptr, nullptr, &size);
  if (child < 0) throw std::system_error(errno, std::generic_category(), "forkpty");
  if (child == 0) {
    execv(arguments[0], arguments.data());
    _exit(127);
  }
  Finished finished;
  std::array<char, 4096> part;
  for (ssize_t count = 0;;) {
    count = read(terminal, part.data(), part.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;  // EIO: the program has ended
    finished.out.append(part.data(), static_cast<std::size_t>(count));
  }
  close(terminal);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  finished.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return finished;
}

}  // namespace fourtune::test
