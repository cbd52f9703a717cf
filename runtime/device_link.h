// How fast two devices of the process copy from each other.
#pragma once

#include "runtime/backends/backend.h"

namespace fourtune::runtime {

// Bytes per second in each direction while both are busy. It is measured when it is first asked for, which takes some
// tens of megabytes on both devices and some milliseconds; any thread may ask. 0 where there is not that much memory.
double device_link(const Backend& backend, int one, int other);

}  // namespace fourtune::runtime
