// Local search: first the cost model's best candidates, then the axis neighbours of the best plan, most promising
// first.
//
// Neighbours are ranked by axis effects: log time = trend in the model's log estimate + one effect per value of each
// axis, fitted to all observations by ridge-regularised backfitting. A neighbour that the effects predict far above the
// best is not measured. When no neighbour is left, the search restarts from the best-predicted candidate elsewhere
// (every other time from a random one, because interacting effects mislead the prediction).
#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/random.h"
#include "tuner/search/search.h"

namespace fourtune::tuner {
namespace {

// Log-additive regression over axes.
class AxisEffects {
 public:
  explicit AxisEffects(const SearchSpace& space) : space_(space), effect_(space.axes()) {
    for (const auto& coordinates : space.coordinates)
      for (std::size_t a = 0; a < coordinates.size(); ++a)
        if (effect_[a].size() <= static_cast<std::size_t>(coordinates[a]))
          effect_[a].resize(static_cast<std::size_t>(coordinates[a]) + 1);
  }

  // times: log seconds. Failures carry a penalty, so that values that always fail are avoided.
  void fit(const std::vector<std::size_t>& candidates, const std::vector<double>& times) {
    for (auto& values : effect_) std::fill(values.begin(), values.end(), 0.0);
    base_ = 0;
    std::vector<double> residual(times.size());
    for (std::size_t i = 0; i < times.size(); ++i) residual[i] = times[i] - trend(candidates[i]);
    for (int sweep = 0; sweep < 12; ++sweep) {
      shift(residual, base_);
      for (std::size_t a = 0; a < effect_.size(); ++a) fit_axis(a, candidates, residual);
    }
  }

  double predict(std::size_t candidate) const {
    double sum = base_ + trend(candidate);
    for (std::size_t a = 0; a < effect_.size(); ++a) sum += effect_[a][value(candidate, a)];
    return sum;
  }

 private:
  std::size_t value(std::size_t candidate, std::size_t axis) const {
    return static_cast<std::size_t>(space_.coordinates[candidate][axis]);
  }
  // Trusts half of the model's differences from the start; the effects correct the rest.
  double trend(std::size_t candidate) const {
    const double estimate = space_.estimates[candidate];
    return estimate > 0 ? 0.5 * std::log(estimate) : 0;
  }
  static void shift(std::vector<double>& residual, double& into) {
    const double mean = std::accumulate(residual.begin(), residual.end(), 0.0) / static_cast<double>(residual.size());
    into += mean;
    for (double& r : residual) r -= mean;
  }
  void fit_axis(std::size_t axis, const std::vector<std::size_t>& candidates, std::vector<double>& residual) {
    constexpr double ridge = 1;  // equals one imaginary observation without effect
    std::vector<double> sum(effect_[axis].size(), 0.0), count(effect_[axis].size(), ridge);
    for (std::size_t i = 0; i < residual.size(); ++i) {
      const std::size_t v = value(candidates[i], axis);
      sum[v] += residual[i] + effect_[axis][v];
      count[v] += 1;
    }
    for (std::size_t i = 0; i < residual.size(); ++i) {
      const std::size_t v = value(candidates[i], axis);
      residual[i] += effect_[axis][v] - sum[v] / count[v];
    }
    for (std::size_t v = 0; v < sum.size(); ++v) effect_[axis][v] = sum[v] / count[v];
  }

  const SearchSpace& space_;
  double base_ = 0;
  std::vector<std::vector<double>> effect_;
};

class LocalSearch : public Search {
 public:
  LocalSearch(const SearchSpace& space, std::uint64_t seed)
      : space_(space), effects_(space_), random_(seed), taken_(space.size(), false), left_(space.size()) {
    ranking_.resize(space.size());
    std::iota(ranking_.begin(), ranking_.end(), std::size_t{0});
    random_.shuffle(ranking_);  // ties of the model's estimates are in random order
    const auto key = [&](std::size_t i) { return space_.estimates[i] > 0 ? space_.estimates[i] : failed; };
    std::stable_sort(ranking_.begin(), ranking_.end(), [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
    start_ = std::clamp<std::size_t>(space.axes() + 2, 4, 12);
  }

  std::optional<std::size_t> ask() override {
    if (left_ == 0) return std::nullopt;
    if (asked_ < start_ || times_.empty()) return take(first_choice());
    refit();
    if (const auto neighbour = promising_neighbour()) return take(*neighbour);
    return take(restart());
  }

  void tell(std::size_t candidate, double seconds) override {
    if (!taken_[candidate]) mark(candidate);
    const bool ok = std::isfinite(seconds) && seconds > 0;
    if (ok) worst_ = times_.empty() ? std::log(seconds) : std::max(worst_, std::log(seconds));
    (ok ? told_ : failures_).push_back(candidate);
    if (ok) times_.push_back(std::log(seconds));
    if (ok && (centre_ == none || std::log(seconds) < centre_time_)) {
      centre_ = candidate;
      centre_time_ = std::log(seconds);
    }
    fitted_ = false;
  }

 private:
  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  // Follows the model's ranking, but skips first choices that differ from another one in a single axis only, because
  // they would teach little. Every third choice is random, in case the model is wrong.
  std::size_t first_choice() {
    if (asked_ % 3 == 2) return random_left();
    for (const std::size_t i : ranking_) {
      if (taken_[i]) continue;
      const bool fresh = std::all_of(first_.begin(), first_.end(), [&](std::size_t j) { return distance(i, j) > 1; });
      if (fresh) return i;
    }
    return random_left();
  }

  std::optional<std::size_t> promising_neighbour() const {
    constexpr double hopeless = 0.4;  // log of the ratio: the prediction is about 1.5 times the best
    std::optional<std::size_t> best;
    double best_time = centre_time_ + hopeless;
    for (std::size_t i = 0; i < space_.size(); ++i) {
      if (taken_[i] || distance(i, centre_) > 1) continue;
      const double predicted = effects_.predict(i);
      if (predicted < best_time) {
        best = i;
        best_time = predicted;
      }
    }
    return best;
  }

  std::size_t restart() {
    ++restarts_;
    centre_ = none;  // the restart's result becomes the next centre, better or not
    if (restarts_ % 2 == 0) return random_left();
    std::size_t best = none;
    double best_time = 0;
    for (std::size_t i = 0; i < space_.size(); ++i) {
      if (taken_[i]) continue;
      const double predicted = effects_.predict(i);
      if (best == none || predicted < best_time) {
        best = i;
        best_time = predicted;
      }
    }
    return best;
  }

  void refit() {
    if (!fitted_) {
      std::vector<std::size_t> candidates = told_;
      std::vector<double> times = times_;
      for (const std::size_t i : failures_) {
        candidates.push_back(i);
        times.push_back(worst_ + 1);
      }
      effects_.fit(candidates, times);
      fitted_ = true;
    }
    if (centre_ == none) {  // a restart failed or has no result yet: continue from the best of all
      const auto best = std::min_element(times_.begin(), times_.end()) - times_.begin();
      centre_ = told_[static_cast<std::size_t>(best)];
      centre_time_ = times_[static_cast<std::size_t>(best)];
    }
  }

  int distance(std::size_t a, std::size_t b) const {
    int count = 0;
    for (std::size_t axis = 0; axis < space_.axes(); ++axis)
      count += space_.coordinates[a][axis] != space_.coordinates[b][axis];
    return count;
  }
  std::size_t random_left() {
    std::size_t skip = random_.below(left_);
    for (std::size_t i = 0;; ++i)
      if (!taken_[i] && skip-- == 0) return i;
  }
  void mark(std::size_t candidate) {
    taken_[candidate] = true;
    --left_;
  }
  std::size_t take(std::size_t candidate) {
    if (asked_++ < start_) first_.push_back(candidate);
    mark(candidate);
    return candidate;
  }

  const SearchSpace space_;
  AxisEffects effects_;
  Random random_;
  std::vector<std::size_t> ranking_, first_;
  std::vector<bool> taken_;
  std::size_t left_, start_ = 0, asked_ = 0, restarts_ = 0;
  std::vector<std::size_t> told_, failures_;
  std::vector<double> times_;  // log seconds of told_
  double worst_ = 0;
  std::size_t centre_ = none;
  double centre_time_ = 0;
  bool fitted_ = false;
};

}  // namespace

std::unique_ptr<Search> make_local_search(const SearchSpace& space, std::uint64_t seed) {
  return std::make_unique<LocalSearch>(space, seed);
}

}  // namespace fourtune::tuner
