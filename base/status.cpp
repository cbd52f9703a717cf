#include "fourtune/status.h"

namespace fourtune {

const char* status_name(Status status) noexcept {
  switch (status) {
    case Status::success:
      return "success";
    case Status::invalid_problem:
      return "invalid_problem";
    case Status::invalid_plan:
      return "invalid_plan";
    case Status::invalid_option:
      return "invalid_option";
    case Status::invalid_argument:
      return "invalid_argument";
    case Status::invalid_point:
      return "invalid_point";
    case Status::contradiction:
      return "contradiction";
    case Status::tolerance_unreachable:
      return "tolerance_unreachable";
    case Status::size_overflow:
      return "size_overflow";
    case Status::out_of_memory:
      return "out_of_memory";
    case Status::points_not_set:
      return "points_not_set";
    case Status::backend_unavailable:
      return "backend_unavailable";
    case Status::unsupported:
      return "unsupported";
    case Status::database:
      return "database";
    case Status::io:
      return "io";
    case Status::interrupted:
      return "interrupted";
    case Status::internal:
      return "internal";
    case Status::communication:
      return "communication";
  }
  return "unknown";
}

const char* status_text(Status status) noexcept {
  switch (status) {
    case Status::success:
      return "no error";
    case Status::invalid_problem:
      return "the problem token is malformed or a value in it is out of range";
    case Status::invalid_plan:
      return "the plan text is malformed, out of range, or for another problem";
    case Status::invalid_option:
      return "an option has an impossible value";
    case Status::invalid_argument:
      return "an argument is null, aliased, negative, or the object is misused";
    case Status::invalid_point:
      return "a coordinate is NaN or infinite";
    case Status::contradiction:
      return "the arguments disagree with what the problem token says";
    case Status::tolerance_unreachable:
      return "the tolerance is below what the precision can give";
    case Status::size_overflow:
      return "a size or a byte count does not fit in 64 bits";
    case Status::out_of_memory:
      return "not enough memory";
    case Status::points_not_set:
      return "set_points must be called before execute";
    case Status::backend_unavailable:
      return "the backend asked for is not available on this machine or in this build";
    case Status::unsupported:
      return "this combination is not supported";
    case Status::database:
      return "the plan database cannot be used";
    case Status::io:
      return "a file cannot be read or written";
    case Status::interrupted:
      return "stopped before the end; everything finished so far is kept";
    case Status::internal:
      return "internal error: a bug in Fourtune";
    case Status::communication:
      return "MPI failed between the ranks of a distributed transform";
  }
  return "unknown status";
}

}  // namespace fourtune
