#include "tuner/session/course.h"

#include <algorithm>
#include <cmath>

namespace fourtune::tuner {
namespace {

constexpr double least_improvement = 0.005;  // less is noise between single measurements

}  // namespace

void SearchCourse::add(double cost, double best) {
  steps_.push_back({(steps_.empty() ? 0 : steps_.back().until) + std::max(0.0, cost), best});
  if (best > 0 && (level_ == 0 || best < (1 - least_improvement) * level_)) {
    level_ = best;
    improved_ = steps_.size();
  }
}

bool SearchCourse::settled() const {
  constexpr std::size_t least_patience = 40;  // plans without an improvement
  return level_ > 0 && steps_.size() - improved_ >= std::max(least_patience, steps_.size() / 2);
}

double SearchCourse::gain_per_second() const {
  constexpr double least_gain = 0.002;          // of a later half that brought nothing
  if (steps_.empty() || level_ == 0) return 1;  // nothing is known yet: this one first
  const double end = std::max(steps_.back().until, 1e-3);
  const auto middle =
      std::find_if(steps_.begin(), steps_.end(), [&](const Step& step) { return step.until >= end / 2; });
  const double before = middle->best > 0 ? middle->best : level_;
  return std::max(std::log(before / std::min(before, level_)), least_gain) / (end / 2);
}

}  // namespace fourtune::tuner
