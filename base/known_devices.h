// GPUs by name, with values from their data sheets, so that candidates for any of them can be listed on any machine.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fourtune/device_traits.h"

namespace fourtune::generator {

// "h200", "h100", "a100", "v100", "b200", "rtx4090", "rtx5090", "l40s", "t4". memory_bandwidth is the peak; a copy
// reaches about 0.9 of it.
const std::vector<std::string>& known_device_names();
std::optional<DeviceTraits> known_device(std::string_view name);

}  // namespace fourtune::generator
