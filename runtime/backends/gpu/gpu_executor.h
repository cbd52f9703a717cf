// The executor of both GPU backends, for uniform transforms. What it runs comes from the backend, bound once for the
// transform and once, when first asked for, for its adjoint.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/backends/backend.h"

namespace fourtune::runtime::gpu {

// One direction of a transform, bound to a device. One thread at a time.
class GpuTransform {
 public:
  virtual ~GpuTransform() = default;
  // in -> out on the stream (the backend's own type). Allocates nothing and does not wait.
  virtual void run(void* in, void* out, void* stream) = 0;
  virtual std::int64_t bytes() const = 0;  // device memory held
  // Bytes that in and out start at a multiple of, where their elements alone do not ask for it.
  virtual std::array<int, 2> alignment() const { return {1, 1}; }
  // Of the last run; waits for it. Empty unless ExecutorOptions::time_stages.
  virtual std::vector<StageTime> stage_times() = 0;
  // Likewise, launch by launch.
  virtual std::vector<LaunchTime> launch_times() { return {}; }
  virtual std::vector<KernelReport> kernels() const { return {}; }
};

// Bytes that the problem's arrays span.
std::size_t input_bytes(const Problem& problem);
std::size_t output_bytes(const Problem& problem);
// The problem of the adjoint: sign and layouts exchanged, r2c against c2r. For these it lacks the weights of the half
// spectrum, which stands for both halves (generator/planner/gpu_fft/program.h).
Problem adjoint_problem(const Problem& problem);

// weighted: the problem is that of a real transform's adjoint, to be run with the weights.
using BindTransform = std::function<std::unique_ptr<GpuTransform>(const Problem&, bool weighted)>;
// Throws Error{invalid_problem} for a nufft, and what bind throws.
std::unique_ptr<Executor> make_gpu_fft_executor(const Problem& problem, const generator::Plan& plan,
                                                const ExecutorOptions& options, BindTransform bind);

}  // namespace fourtune::runtime::gpu
