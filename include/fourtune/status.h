// Status codes of every Fourtune interface, and the exception that carries one.
#pragma once

#include <stdexcept>
#include <string>

#include "fourtune/export.h"

namespace fourtune {

// Values are part of the C interface (fourtune.h lists the same numbers): never renumber, only append.
enum class Status : int {
  success = 0,
  invalid_problem = 1,        // problem token malformed, or a value out of range
  invalid_plan = 2,           // plan text malformed, out of range, or for another problem
  invalid_option = 3,         // an option has an impossible value
  invalid_argument = 4,       // null or aliased pointer, negative count, object misused
  invalid_point = 5,          // a coordinate is NaN or infinite
  contradiction = 6,          // arguments disagree with what the problem token promised
  tolerance_unreachable = 7,  // tol is below what the precision can give
  size_overflow = 8,          // a size or byte count does not fit 64 bits
  out_of_memory = 9,
  points_not_set = 10,       // execute before set_points
  backend_unavailable = 11,  // forced backend is missing on this machine or in this build
  unsupported = 12,          // a combination this build cannot run
  database = 13,             // plan database unreadable, foreign, newer or damaged
  io = 14,                   // file missing, unreadable or unwritable
  interrupted = 15,          // stopped by the user, everything finished so far is kept
  internal = 16,             // a bug in Fourtune
};

// The enumerator's name ("invalid_point"), static storage.
FOURTUNE_API const char* status_name(Status status) noexcept;
// One sentence for people, static storage.
FOURTUNE_API const char* status_text(Status status) noexcept;

// What every C++ entry point throws. what() says what was wrong and what would be right.
class FOURTUNE_API Error : public std::runtime_error {
 public:
  Error(Status status, const std::string& message) : std::runtime_error(message), status_(status) {}
  Status status() const noexcept { return status_; }

 private:
  Status status_;
};

}  // namespace fourtune
