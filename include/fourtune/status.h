// Status codes of every Fourtune interface, and the exception that carries one.
#pragma once

#include <stdexcept>
#include <string>

#include "fourtune/export.h"

namespace fourtune {

// The values are part of the C interface (fourtune.h lists the same numbers): never renumber them, only append.
enum class Status : int {
  success = 0,
  invalid_problem = 1,        // the problem token is malformed, or a value is out of range
  invalid_plan = 2,           // the plan text is malformed, out of range, or for another problem
  invalid_option = 3,         // an option has an impossible value
  invalid_argument = 4,       // a null or aliased pointer, a negative count, or a misused object
  invalid_point = 5,          // a coordinate is NaN or infinite
  contradiction = 6,          // arguments disagree with the problem token
  tolerance_unreachable = 7,  // tol is below what the precision can reach
  size_overflow = 8,          // a size or a byte count does not fit 64 bits
  out_of_memory = 9,
  points_not_set = 10,       // execute was called before set_points
  backend_unavailable = 11,  // the requested backend is missing on this machine or in this build
  unsupported = 12,          // this build cannot run the combination
  database = 13,             // a plan database is unreadable, foreign, newer or damaged
  io = 14,                   // a file is missing, unreadable or unwritable
  interrupted = 15,          // stopped by the user; everything finished so far is kept
  internal = 16,             // a bug in Fourtune
  communication = 17,        // MPI failed between the ranks of a distributed transform
};

// The enumerator's name ("invalid_point"), in static storage.
FOURTUNE_API const char* status_name(Status status) noexcept;
// One sentence for people, in static storage.
FOURTUNE_API const char* status_text(Status status) noexcept;

// The exception that every C++ entry point throws. what() says what was wrong and what would be right.
class FOURTUNE_API Error : public std::runtime_error {
 public:
  Error(Status status, const std::string& message) : std::runtime_error(message), status_(status) {}
  Status status() const noexcept { return status_; }

 private:
  Status status_;
};

}  // namespace fourtune
