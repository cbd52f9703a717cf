#include "tools/common/stop_on_signal.h"

namespace fourtune::tools {
namespace {

std::atomic<bool> requested{false};

}  // namespace

StopOnSignal::StopOnSignal() {
  requested = false;
  struct sigaction action {};
  action.sa_handler = [](int) { requested.store(true); };
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  sigaction(SIGINT, &action, &old_int_);
  sigaction(SIGTERM, &action, &old_term_);
}
StopOnSignal::~StopOnSignal() {
  sigaction(SIGINT, &old_int_, nullptr);
  sigaction(SIGTERM, &old_term_, nullptr);
}
const std::atomic<bool>& StopOnSignal::raised() const { return requested; }

}  // namespace fourtune::tools
