// `fourtune doctor --prove`: checks whether this machine's devices compute correctly.
#pragma once

#include <atomic>
#include <vector>

#include "tools/cli/machine.h"

namespace fourtune::tools {

// Runs a hunt (tools/soak/hunt.h) for this many seconds, divided equally between the processor and the GPUs. Returns
// one finding per device, with state ok or wrong and one sentence. `stop` ends it early.
std::vector<Finding> prove_devices(double seconds, const std::atomic<bool>& stop);

}  // namespace fourtune::tools
