// The emulated backend: generated CUDA kernels on the processor, through the executor of the GPUs. For tests: link
// fourtune_emulated and call runtime::add_backend, or use the object itself.
#pragma once

#include "runtime/backends/backend.h"
#include "runtime/backends/emulated/engine.h"
#include "runtime/backends/gpu/program_source.h"

namespace fourtune::runtime::emulated {

// A device that does not exist: small, with everything that the kernels may ask for (compute capability 9.0).
DeviceTraits emulated_traits();

// Arrays given to its executors are host memory; kernels see copies of exactly the problem's spans between guard pages.
class EmulatedBackend final : public Backend {
 public:
  // Each execute runs with these options, the seed one higher each time.
  explicit EmulatedBackend(gpu::ProgramSource programs, const RunOptions& options = {});
  std::string_view name() const override { return "emulated"; }
  // Throws Error{invalid_plan} when the plan is for another backend, Error{unsupported} when it wants the FFT library.
  std::unique_ptr<Executor> bind(const Problem& problem, const generator::Plan& plan,
                                 const ExecutorOptions& options) const override;

 protected:
  DeviceTraits traits_of(int) const override { return emulated_traits(); }

 private:
  gpu::ProgramSource programs_;
  RunOptions options_;
};

}  // namespace fourtune::runtime::emulated
