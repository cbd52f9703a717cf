// A GPU as explain, plan and emit take it: one of this machine by its number, or one that need not be here by its name.
#pragma once

#include <string>

#include "fourtune/device_traits.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace fourtune::tools {

// --device N|NAME. `purpose` begins its help. Neither a number nor a known name is refused with the names.
CLI::Option* add_gpu_option(CLI::App& command, std::string& gpu, const std::string& purpose);
// Whether it is the name of a GPU that is known by its data sheet.
bool names_known_gpu(const std::string& gpu);
// The number that it is, where it is no name.
int gpu_number(const std::string& gpu);
// The data sheet's traits of a name, the driver's of a number. Throws Error{backend_unavailable | invalid_option} where
// there is no such GPU here.
DeviceTraits gpu_traits(const std::string& gpu);

}  // namespace fourtune::tools
