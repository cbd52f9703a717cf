// Numbers, tables and paths as people read them. No locale is ever used.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace fourtune::tools {

// "512 B", "1.5 KiB", "12 MiB".
std::string bytes_text(std::int64_t bytes);
// "00:42", "1:02:03"; for what is left of a running command.
std::string clock_text(double seconds);

// Columns padded to their widest cell; the first row is the heading. Columns listed in `right` are right-aligned.
std::string table_text(const std::vector<std::vector<std::string>>& rows, const std::vector<int>& right);
// Whether the file descriptor is a terminal.
bool is_terminal(int descriptor);
// The words of the command line, for the record: quoted where a shell would need it.
std::string command_text(int argc, const char* const* argv);

}  // namespace fourtune::tools
