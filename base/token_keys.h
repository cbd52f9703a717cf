// The keys of problem tokens: token.cpp parses and prints them, typed_token.cpp reads what people type.
#pragma once

#include <string>
#include <vector>

#include "fourtune/problem.h"

namespace fourtune {

// Names of the keys of this kind, in the order in which tokens have them.
std::vector<std::string> token_keys(Kind kind);

}  // namespace fourtune
