// Turns Ctrl-C into a flag. The first signal asks the work to end and removes the handler, so a second one ends the
// program.
#pragma once

#include <signal.h>

#include <atomic>

namespace fourtune::tools {

// Only one may exist at a time.
class StopOnSignal {
 public:
  StopOnSignal();
  ~StopOnSignal();
  StopOnSignal(const StopOnSignal&) = delete;
  StopOnSignal& operator=(const StopOnSignal&) = delete;
  const std::atomic<bool>& raised() const;

 private:
  struct sigaction old_int_ {};
  struct sigaction old_term_ {};
};

}  // namespace fourtune::tools
