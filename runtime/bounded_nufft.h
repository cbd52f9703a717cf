// A nonuniform transform of type 1 or 2 that may allocate only so much on a device. Where it fits it is computed as a
// whole, a batch in pieces if need be (device_part.h); else in slabs of its fine grid (streamed_nufft.h).
#pragma once

#include <cstdint>
#include <memory>

#include "runtime/transform_core.h"

namespace fourtune::runtime {

// The transforms of the problem's batch, on options.device, with at most so many bytes there. Arrays may be in host
// memory or the device's. What is done is chosen as soon as m is known. Throws what on_streamed_grid() throws.
std::unique_ptr<TransformCore> on_bounded_device(const Problem& problem, const Options& options, std::int64_t bytes);

}  // namespace fourtune::runtime
