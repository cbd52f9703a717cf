// Formats numbers and paths for people. Never uses a locale.
#pragma once

#include <cstdint>
#include <string>

namespace fourtune::tools {

// "512 B", "1.5 KiB", "12 MiB".
std::string bytes_text(std::int64_t bytes);
// "00:42", "1:02:03": for the remaining time of a command.
std::string clock_text(double seconds);

// Whether the file descriptor is a terminal.
bool is_terminal(int descriptor);
// The command line as one text, for the record: words are quoted where a shell would need it.
std::string command_text(int argc, const char* const* argv);

}  // namespace fourtune::tools
