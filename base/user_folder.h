// Where the user's own data is.
#pragma once

#include <filesystem>

namespace fourtune {

// $XDG_DATA_HOME/fourtune, else ~/.local/share/fourtune (XDG base directory specification). Empty where there is no
// home. Makes nothing.
std::filesystem::path user_data_folder();

}  // namespace fourtune
