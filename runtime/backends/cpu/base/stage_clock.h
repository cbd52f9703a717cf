// Names and times the stages of a transform. Allocates nothing once every stage has run.
#pragma once

#include <chrono>
#include <cstddef>
#include <span>
#include <vector>

#include "fourtune/transform.h"

namespace fourtune::runtime::cpu {

class StageClock {
 public:
  StageClock() { times_.reserve(16); }

  void begin_set_points() { times_.clear(), kept_ = 0; }
  void end_set_points() { kept_ = times_.size(); }
  void begin_execute() { times_.resize(kept_); }

  // Runs the stage and adds its time to the entry with that name, so the chunks of a batch add up.
  template <class Work>
  void time(const char* stage, Work&& work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    for (std::size_t i = times_.size(); i-- > 0;)
      if (times_[i].stage == stage && i >= kept_) {
        times_[i].seconds += seconds;
        return;
      }
    times_.push_back({stage, seconds});
  }
  std::span<const StageTime> times() const { return times_; }

 private:
  std::vector<StageTime> times_;
  std::size_t kept_ = 0;  // number of entries from the last set_points
};

}  // namespace fourtune::runtime::cpu
