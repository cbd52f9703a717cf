#include "dropin/cufft/trial.h"

#include <algorithm>
#include <cstddef>

namespace fourtune::dropin {

static_assert(Trial::kTurns.size() == 2 * Trial::kTimes);

Side Trial::begin(void* stream) noexcept try {
  if (!winner_ && timed_ && !runs_) read();
  if (winner_) return *winner_;
  if (timed_) return Side::ours;
  const int turn = ours_.count + theirs_.count;
  const Side next = kTurns[static_cast<std::size_t>(turn)] == 'o' ? Side::ours : Side::theirs;
  watch_->start(stream);
  timed_ = next, runs_ = true;
  return next;
} catch (...) {  // without times the plan that was chosen stays
  winner_ = Side::ours;
  return Side::ours;
}

void Trial::end(void* stream) noexcept try {
  if (!runs_) return;
  runs_ = false;
  watch_->stop(stream);
} catch (...) {
  winner_ = Side::ours;
}

void Trial::read() {
  const std::optional<double> seconds = watch_->seconds();
  if (!seconds) return;
  Times& times = of(*timed_);
  timed_.reset();
  times.least = std::min(times.least, *seconds);
  ++times.count;
  if (ours_.count + theirs_.count == 2 * kTimes)
    winner_ = theirs_.least < kClearly * ours_.least ? Side::theirs : Side::ours;
}

}  // namespace fourtune::dropin
