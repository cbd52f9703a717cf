// The executors of both GPU backends for nonuniform transforms.
#pragma once

#include <array>
#include <memory>

#include "generator/codegen/nufft/kernels.h"
#include "runtime/backends/backend.h"
#include "runtime/backends/gpu/nufft_queue.h"

namespace fourtune::runtime::gpu {

// Types 1 and 2 and their adjoints: one sort, one grid (nufft_executor.cpp). Kernels of the forward direction are
// loaded here, those of the adjoint on first use. Throws Error{invalid_plan | unsupported | out_of_memory | ...}.
std::unique_ptr<Executor> make_gpu_type12_executor(const Problem& problem, const generator::Plan& plan,
                                                   const ExecutorOptions& options, std::unique_ptr<Queue> queue);
// The same of one stage alone (Only). set_maps, before set_points: where later points lie in the grid; else they are in
// radians.
class MappedExecutor : public Executor {
 public:
  virtual void set_maps(const std::array<generator::nufft::Map, 3>& maps) = 0;
};
std::unique_ptr<MappedExecutor> make_gpu_mapped_executor(const Problem& problem, const generator::Plan& plan,
                                                         const ExecutorOptions& options, std::unique_ptr<Queue> queue);
// Type 3 (nufft_type3_executor.cpp). Its grids depend on the points, so its kernels are loaded in set_points.
std::unique_ptr<Executor> make_gpu_type3_executor(const Problem& problem, const generator::Plan& plan,
                                                  const ExecutorOptions& options, std::unique_ptr<Queue> queue);
// Makes the one of the two that the problem needs.
std::unique_ptr<Executor> make_gpu_nufft_executor(const Problem& problem, const generator::Plan& plan,
                                                  const ExecutorOptions& options, std::unique_ptr<Queue> queue);

}  // namespace fourtune::runtime::gpu
