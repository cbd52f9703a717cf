// The device argument of explain, plan and emit: one of this machine's GPUs by number, any known GPU by name, or any
// device by the file of its calibration.
#pragma once

#include <string>

#include "base/calibration.h"
#include "fourtune/device_traits.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace fourtune::tools {

// Declares --device N|NAME|FILE.json. `purpose` begins the help text. Other values are refused with a list of the known
// names.
CLI::Option* add_gpu_option(CLI::App& command, std::string& gpu, const std::string& purpose);
// Whether this is the name of a GPU whose data sheet is known, or of a file of `fourtune calibrate`.
bool names_absent_device(const std::string& device);
// The number in the argument, if it is none of these.
int gpu_number(const std::string& gpu);
// Such a device: what the file says, which may be of a processor, or its data sheet, without a date where nobody has
// measured one. Throws as load_calibration does.
Calibration absent_device(const std::string& device);
// Traits of a GPU: of such a device, or from the driver for a number. Throws as absent_device, UsageError for a
// processor, and Error{backend_unavailable | invalid_option} if this machine has no such GPU.
DeviceTraits gpu_traits(const std::string& gpu);

}  // namespace fourtune::tools
