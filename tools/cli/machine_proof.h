// `fourtune doctor --prove`: whether this machine's devices compute right.
#pragma once

#include <atomic>
#include <vector>

#include "tools/cli/machine.h"

namespace fourtune::tools {

// Lets a hunt (tools/soak/hunt.h) run for so many seconds, shared evenly by the processor and the GPUs: a finding for
// each, its state ok or wrong, with one sentence. `stop` ends it early.
std::vector<Finding> prove_devices(double seconds, const std::atomic<bool>& stop);

}  // namespace fourtune::tools
