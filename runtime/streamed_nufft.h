// A transform of type 1 or 2 in 2D or 3D that is larger than what it may allocate on a device. Its fine grid goes
// through the device in slabs along the last dimension, and the points go with the slabs that they reach:
//
//   type 1: values in the order of slabs -> of each slab: spread, transform and prune planes -> lines -> modes
//   type 2: modes -> lines -> of each slab: pad and transform planes, interpolate -> values in the caller's order
//
// Between slabs and lines the columns that are kept lie in host memory. These are the steps of ranks with GPUs
// (distributed/gpu_nufft_slabs.cpp), with host memory in the place of the exchange. Copies to the device, work on
// another part and copies back go on at once.
#pragma once

#include <cstdint>
#include <memory>

#include "runtime/resolve.h"
#include "runtime/transform_core.h"

namespace fourtune::runtime {

// resolution: the plan for the whole transform. m is known. execute() returns when the work is done, and arrays may be
// in host memory or the device's. Throws Error{out_of_memory} where not even the smallest slabs fit,
// Error{invalid_plan} for a forced plan that slabs cannot have, and Error{unsupported} for what they do not do.
std::unique_ptr<TransformCore> on_streamed_grid(const Problem& problem, const Options& options,
                                                const Resolution& resolution, std::int64_t bytes);

}  // namespace fourtune::runtime
