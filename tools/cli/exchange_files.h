// Files of other tuners: what `fourtune import` and `fourtune tune --problems` read.
#pragma once

#include <optional>
#include <string>

#include "fourtune/problem.h"

namespace fourtune::tools {

// Throws UsageError when the file cannot be read.
std::string text_of_file(const std::string& path);
// The problem of a file in the format T1; nothing where the file is no JSON object, or there is none. Throws UsageError
// when it is one of another kind.
std::optional<Problem> problem_of_t1_file(const std::string& path);

}  // namespace fourtune::tools
