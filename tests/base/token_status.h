// What becomes of a token that may be refused.
#pragma once

#include <string>

#include "fourtune/problem.h"
#include "fourtune/status.h"

namespace fourtune {

inline Status status_of(const std::string& token, std::string* message = nullptr) {
  try {
    parse_problem(token);
  } catch (const Error& error) {
    if (message) *message = error.what();
    return error.status();
  }
  return Status::success;
}

}  // namespace fourtune
