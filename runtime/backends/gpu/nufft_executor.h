// The executors of both GPU backends for nonuniform transforms.
#pragma once

#include <memory>

#include "runtime/backends/backend.h"
#include "runtime/backends/gpu/nufft_queue.h"

namespace fourtune::runtime::gpu {

// Types 1 and 2 and their adjoints: one sort, one grid. Kernels of the forward direction are loaded here, those of the
// adjoint when it is first asked for. Throws Error{invalid_plan | unsupported | out_of_memory | ...}.
std::unique_ptr<Executor> make_gpu_type12_executor(const Problem& problem, const generator::Plan& plan,
                                                   const ExecutorOptions& options, std::unique_ptr<Queue> queue);
// Type 3. Its grids follow from the points, so that kernels are loaded in set_points.
std::unique_ptr<Executor> make_gpu_type3_executor(const Problem& problem, const generator::Plan& plan,
                                                  const ExecutorOptions& options, std::unique_ptr<Queue> queue);
// The one of the two that the problem needs.
std::unique_ptr<Executor> make_gpu_nufft_executor(const Problem& problem, const generator::Plan& plan,
                                                  const ExecutorOptions& options, std::unique_ptr<Queue> queue);

}  // namespace fourtune::runtime::gpu
