// Descriptors 0, 1 and 2 of a program that was started without some of them.
#pragma once

namespace fourtune::tools {

// Opens /dev/null in the place of each that is closed, so that no file of the program gets its number and with it what
// is meant for standard output or error. Reading then finds the end; writing fails, as on a closed descriptor.
void occupy_standard_files() noexcept;

}  // namespace fourtune::tools
