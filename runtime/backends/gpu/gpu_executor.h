// The executor of both GPU backends for uniform transforms. The backend supplies the code to run: it is bound once for
// the transform and, on first use, once for its adjoint.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/backends/backend.h"

namespace fourtune::runtime::gpu {

// One direction of a transform, bound to a device. Use from one thread at a time.
class GpuTransform {
 public:
  virtual ~GpuTransform() = default;
  // Runs in -> out on the stream (a stream of the backend's type). Allocates nothing and does not wait.
  virtual void run(void* in, void* out, void* stream) = 0;
  virtual std::int64_t bytes() const = 0;  // device memory that it holds
  // The byte alignment that in and out must have beyond the alignment of their elements.
  virtual std::array<int, 2> alignment() const { return {1, 1}; }
  // The stages of the last run; waits for it. Empty unless ExecutorOptions::time_stages.
  virtual std::vector<StageTime> stage_times() = 0;
  // The same, launch by launch.
  virtual std::vector<LaunchTime> launch_times() { return {}; }
  virtual std::vector<KernelReport> kernels() const { return {}; }
};

// The number of bytes that the problem's arrays span.
std::size_t input_bytes(const Problem& problem);
std::size_t output_bytes(const Problem& problem);
// The problem of the adjoint: sign and layouts exchanged, r2c swapped with c2r. For r2c and c2r it lacks the weights of
// the half spectrum, which stands for both halves (generator/planner/gpu_fft/program.h).
Problem adjoint_problem(const Problem& problem);

// weighted: the problem is the adjoint of a real transform and must run with the weights.
using BindTransform = std::function<std::unique_ptr<GpuTransform>(const Problem&, bool weighted)>;
// Throws Error{invalid_problem} for a nufft, and whatever bind throws.
std::unique_ptr<Executor> make_gpu_fft_executor(const Problem& problem, const generator::Plan& plan,
                                                const ExecutorOptions& options, BindTransform bind);

}  // namespace fourtune::runtime::gpu
