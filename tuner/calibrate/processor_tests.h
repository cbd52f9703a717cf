// The rates of a processor.
#pragma once

#include <vector>

#include "fourtune/device_traits.h"
#include "tuner/calibrate/rate_test.h"

namespace fourtune::tuner {

// Of one core, in its caches and in memory; where there are several, of all of them together and what it takes them to
// begin and end a loop.
std::vector<RateTestMaker> processor_tests(const DeviceTraits& traits);

}  // namespace fourtune::tuner
