// A child process that compiles kernels. Compilers hold a lock for a good part of their time (NVRTC's front end), so
// threads of one process get a fraction of a machine's cores; and a compiler that crashes or hangs costs this process.
//
// The parent exchanges lines of JSON with it, as with a worker (worker.h):
//   {"entry":..,"text":..,"registers":n,"target":..,"seconds":s}
//     -> {"image":hex,"log":text}, {"error":"compile","message":text,"timeout":bool} or
//        {"error":"other","message":text,"status":n}
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/backends/backend.h"
#include "tuner/worker/child_process.h"

namespace fourtune::tuner {

// The main loop of the child: answers requests until the parent hangs up. It needs no device, and gives way to other
// processes.
int compiler_main(const runtime::Backend& backend, int fd = 3);

// Use from one thread. The child starts with the first kernel, and again after it was lost.
class CompilerProcess {
 public:
  // command: program and arguments, whose main function is compiler_main.
  explicit CompilerProcess(std::vector<std::string> command) : command_(std::move(command)) {}
  // Throws what Backend::compile_kernel throws in the child, and CompileError when the child crashes, sends nonsense or
  // takes much longer than `seconds`.
  runtime::KernelImage compile(const runtime::KernelJob& job, double seconds);

 private:
  std::vector<std::string> command_;
  std::unique_ptr<ChildProcess> child_;
};

}  // namespace fourtune::tuner
