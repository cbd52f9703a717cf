// The emulated backend runs generated CUDA kernels on the processor, through the executor of the GPUs. It is for tests:
// link fourtune_emulated and call runtime::add_backend, or use the object directly.
#pragma once

#include "runtime/backends/emulated/engine.h"
#include "runtime/backends/gpu/program_backend.h"

namespace fourtune::runtime::emulated {

// The traits of a fictitious device: small, with everything that the kernels may need (compute capability 9.0).
DeviceTraits emulated_traits();

// Arrays passed to its executors are host memory; kernels see copies of exactly the problem's spans, with guard pages.
class EmulatedBackend final : public gpu::ProgramBackend {
 public:
  // Each execute uses these options, with the seed increased by one each time.
  explicit EmulatedBackend(gpu::ProgramSource programs, const RunOptions& options = {});
  std::string_view name() const override { return "emulated"; }
  Capabilities capabilities() const override;
  // As many as the environment variable FOURTUNE_EMULATED_DEVICES says, 1 without it; all are alike.
  int device_count() const override;
  std::unique_ptr<Backend> with_programs(gpu::ProgramSource programs) const override;
  std::unique_ptr<gpu::Queue> queue(int device) const override;
  // Throws Error{invalid_plan} when the plan is for another backend, Error{unsupported} when it needs the FFT library.
  std::unique_ptr<Executor> bind(const Problem& problem, const generator::Plan& plan,
                                 const ExecutorOptions& options) const override;

  // Its bytes are counted (counted_memory.h).
  std::unique_ptr<ArrayMemory> memory(int device) const override;
  // Their asynchronous copies arrive late (late_streams.h).
  std::unique_ptr<DeviceStreams> streams(int device) const override;

 protected:
  DeviceTraits traits_of(int) const override { return emulated_traits(); }

 private:
  gpu::ProgramSource programs_;
  RunOptions options_;
};

}  // namespace fourtune::runtime::emulated
