// Where a call of the program runs.
#pragma once

#include <memory>

#include "dropin/cufft/trial.h"

namespace fourtune::dropin {

// The current context and its device; false if there is none.
bool current_device(int& device, void*& context) noexcept;
// Whether the context is the device's primary one, in which our kernels run.
bool is_primary(int device, const void* context) noexcept;
// Free bytes of the device's memory; 0: unknown.
long long free_memory(int device) noexcept;
// Whether the program records the stream's work into a graph.
bool is_recorded(void* stream) noexcept;
// By events of the device's primary context. Throws Error.
std::unique_ptr<StreamStopwatch> make_stopwatch(int device);

}  // namespace fourtune::dropin
