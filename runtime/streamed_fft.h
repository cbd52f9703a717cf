// An fft whose arrays are larger than what it may allocate on a device. They stay where they are, mostly in host
// memory, and go through the device in blocks, twice: planes are transformed in all dimensions but the last, and lines
// along the last one. The copy of one block to the device, the work on another and the copy back of a third go on at
// once.
#pragma once

#include <cstdint>
#include <memory>

#include "runtime/transform_core.h"

namespace fourtune::runtime {

// The first transform of the problem's batch, on options.device, with at most so many bytes there. A real transform
// whose result is smaller than its spectrum keeps that in host memory meanwhile, unless it works in place. execute()
// returns when the work is done. Throws Error{unsupported} for problems of one dimension, for layouts and orders of the
// spectrum, and Error{out_of_memory} where not even single planes and lines fit.
std::unique_ptr<TransformCore> on_streamed_device(const Problem& problem, const Options& options, std::int64_t bytes);

}  // namespace fourtune::runtime
