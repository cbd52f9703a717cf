// The environment to which measurements made by this process belong.
#pragma once

#include "db/records.h"
#include "fourtune/device_traits.h"

namespace fourtune::runtime {

// Device, compiler, libraries and the version of the plan language; the same for the tuner and the runtime.
db::Environment environment_here(const DeviceTraits& traits);
// The same, with empty texts for what only loading a GPU's compiler and libraries could tell, which takes longer than
// everything else that finds a plan.
db::Environment environment_at_hand(const DeviceTraits& traits);

}  // namespace fourtune::runtime
