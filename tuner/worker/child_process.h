// A child process that exchanges lines with its parent over a socket, which is descriptor 3 in the child.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "tuner/worker/pipe.h"

namespace fourtune::tuner {

// The destructor kills the child and waits for it.
class ChildProcess {
 public:
  // command: program and arguments. Throws Error{io} when no child can be created. A missing program shows as the
  // child's end.
  explicit ChildProcess(const std::vector<std::string>& command);
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  ~ChildProcess() { end(); }

  LinePipe& pipe() { return pipe_; }
  // Notes that the child closed its end of the socket. It is about to exit, so end() waits a moment before it kills it.
  void note_hang_up() { hung_up_ = true; }
  // Kills the child if it still lives. Returns its wait status, or 0 when it was waited for before.
  int end();

 private:
  pid_t pid_ = -1;
  bool hung_up_ = false;
  LinePipe pipe_;
};

// Describes a wait status: "the worker died of signal Segmentation fault", "the worker ended with exit code 3".
std::string describe_exit(int status);

}  // namespace fourtune::tuner
