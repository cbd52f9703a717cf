// Streams whose copies land as late as the program allows: when something that comes after them begins, and not before.
// So a copy that nobody waits for is found by wrong results, as an asynchronous copy inside a kernel is.
#pragma once

#include <memory>

#include "runtime/backends/device_streams.h"

namespace fourtune::runtime::emulated {

// In the memory of this process. Executors and libraries do their work at once, so Lane::work is never behind. All
// emulated devices reach all memory, except for what a test places (placed_arrays.h).
std::unique_ptr<DeviceStreams> late_streams(int device);

}  // namespace fourtune::runtime::emulated
