// Reads problem tokens from the command line and from files.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "fourtune/problem.h"

namespace fourtune::tools {

// Parses one token from the user. Throws UsageError with the parser's reason.
Problem problem_from_argument(const std::string& token);

// The tokens of a file (one per line, '#' starts a comment), in order and without duplicates. `name` is a path or
// "builtin:quick", "builtin:papers", "builtin:applications". Throws UsageError that starts with "FILE:LINE: ".
std::vector<Problem> problems_from_file(const std::string& name);

// The folder of the "builtin:" lists: $FOURTUNE_CASES, or next to an installed program (../share/fourtune/cases), or in
// the source tree that this program was built from. Empty when none of them exists.
std::filesystem::path builtin_folder();

}  // namespace fourtune::tools
