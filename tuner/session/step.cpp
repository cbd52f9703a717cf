// The names of a session's steps.
#include "tuner/session/session.h"

namespace fourtune::tuner {

const char* to_string(Step step) noexcept {
  switch (step) {
    case Step::prepare:
      return "prepare";
    case Step::untuned:
      return "untuned";
    case Step::search:
      return "search";
    case Step::finals:
      return "finals";
    case Step::done:
      return "done";
  }
  return "?";
}

}  // namespace fourtune::tuner
