// A child process that is talked to in lines over a socket, its descriptor 3.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "tuner/worker/pipe.h"

namespace fourtune::tuner {

// Killed and waited for by the destructor.
class ChildProcess {
 public:
  // program and arguments. Throws Error{io} when there can be no child; a program that is not there shows as its end.
  explicit ChildProcess(const std::vector<std::string>& command);
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  ~ChildProcess() { end(); }

  LinePipe& pipe() { return pipe_; }
  // The child closed its end: it is ending by itself, and end() gives it the moment.
  void note_hang_up() { hung_up_ = true; }
  // Kills it if it still lives; returns its wait status, 0 when it was waited for before.
  int end();

 private:
  pid_t pid_ = -1;
  bool hung_up_ = false;
  LinePipe pipe_;
};

// "the worker died of signal Segmentation fault", "the worker ended with exit code 3", of a wait status.
std::string describe_exit(int status);

}  // namespace fourtune::tuner
