// The environment that measurements made by this process belong to.
#pragma once

#include "db/records.h"
#include "fourtune/device_traits.h"

namespace fourtune::runtime {

// Device, compiler, libraries and the version of the plan language; the same for tuner and runtime.
db::Environment environment_here(const DeviceTraits& traits);

}  // namespace fourtune::runtime
