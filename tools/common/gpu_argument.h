// The GPU argument of explain, plan and emit: one of this machine's GPUs by number, or any known GPU by name.
#pragma once

#include <string>

#include "fourtune/device_traits.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace fourtune::tools {

// Declares --device N|NAME. `purpose` begins the help text. Other values are refused with a list of the known names.
CLI::Option* add_gpu_option(CLI::App& command, std::string& gpu, const std::string& purpose);
// Whether this is the name of a GPU whose data sheet is known.
bool names_known_gpu(const std::string& gpu);
// The number in the argument, if it is not a name.
int gpu_number(const std::string& gpu);
// Traits from the data sheet for a name, from the driver for a number. Throws Error{backend_unavailable |
// invalid_option} if this machine has no such GPU.
DeviceTraits gpu_traits(const std::string& gpu);

}  // namespace fourtune::tools
