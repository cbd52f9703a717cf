// Compiles the kernels of a pack's plans, for GPUs that need not be in this machine.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "db/pack_contents.h"

namespace fourtune::runtime::cuda {

struct CompiledForPack {
  std::vector<db::NamedKernel> kernels;
  std::vector<std::string> left_out;  // one line per plan that has no kernels in the list, with the reason
};

// For the plans measured on a GPU of this architecture: machine code ("sm_90"), or PTX that later GPUs run, too
// ("compute_90"). With the traits of the GPU of that name, in this machine or by its data sheet, else those of the GPU
// of this architecture with the nearest numbers. For a type 3 only the kernels that do not depend on the points'
// extents. Works on up to `threads` threads; `progress` is called from any of them, one at a time. Throws
// Error{invalid_argument} for other targets, Error{backend_unavailable} without NVRTC and Error{unsupported} for an
// architecture that NVRTC does not know.
CompiledForPack compile_for_pack(std::span<const db::PackPlan> plans, const std::string& target, int threads,
                                 const std::function<void(std::size_t done, std::size_t all)>& progress);

}  // namespace fourtune::runtime::cuda
