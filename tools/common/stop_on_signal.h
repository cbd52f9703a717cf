// Ctrl-C as a flag: the first signal asks the work to end, the handler is then gone, so a second one ends the program.
#pragma once

#include <signal.h>

#include <atomic>

namespace fourtune::tools {

// One at a time.
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
