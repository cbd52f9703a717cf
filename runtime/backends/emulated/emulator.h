// Runs a GpuProgram on the processor, with every check that a GPU does not make. For tests only.
//
//   emulated::Program program(gpu_program);           // compiles it once, cached by digest
//   emulated::RunOptions options;
//   options.threads = emulated::ExecutionOrder::reverse;
//   program.run(std::as_bytes(in), std::as_writable_bytes(out), options);
//
// Threads: a Program may be used by one thread at a time.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "generator/codegen/kernel_source.h"
#include "runtime/backends/emulated/engine.h"
#include "runtime/backends/emulated/kernel_fault.h"
#include "runtime/backends/emulated/module.h"

namespace fourtune::runtime::emulated {

class Program {
 public:
  explicit Program(generator::GpuProgram program, const CompileOptions& options = {});

  // Copies both arrays to device memory of exactly their sizes, runs the launches, and copies both back. Passing the
  // same array twice means in place. `second_is_input`: second counts as initialised by the host. Throws KernelFault,
  // and Error{invalid_argument} when the module was compiled for other checks than the options request.
  void run(std::span<std::byte> first, std::span<std::byte> second, const RunOptions& options,
           bool second_is_input = false);

  const generator::GpuProgram& program() const { return program_; }

 private:
  generator::GpuProgram program_;
  std::vector<std::unique_ptr<Module>> modules_;
};

// Compiles for the checks that the options request, and runs.
void run_program(const generator::GpuProgram& program, std::span<std::byte> first, std::span<std::byte> second,
                 const RunOptions& options = {}, bool second_is_input = false);

// Runs every order of threads and blocks once, with copies that arrive late and at random moments, then instrumented;
// tests of a kernel should use this. `check` examines the second array after each run and says what is wrong (empty:
// nothing). first and second start each run with the given bytes. Returns the number of runs. Throws KernelFault or
// Error{internal}.
int run_all_ways(
    const generator::GpuProgram& program, std::span<const std::byte> first, std::span<const std::byte> second,
    const std::function<std::string(std::span<const std::byte> first, std::span<const std::byte> second)>& check,
    bool second_is_input = false);

}  // namespace fourtune::runtime::emulated
