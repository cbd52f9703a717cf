// Surrogate search: a Gaussian process over the space predicts log times; the candidate with the largest expected
// improvement is measured next (Jones, Schonlau, Welch 1998).
//
// Model: log time = a + b log(estimate) + process, with covariance  mix * mean_a c_a + (1 - mix) * prod_a c_a,
// c_a = exp(-|distance along axis a| / length_a): the sum learns axis effects from few observations, the product learns
// their interactions. The slope b has a variance too, as a further term of the covariance, so that candidates whose
// estimates are unlike those of all measured ones are uncertain, however slow the cost model says they are: where the
// model misleads, the best plans are among them (c2c of 65536 points in tests/tuner/spaces/gpu). Lengths and mix
// maximise the marginal likelihood by coordinate search, which is repeated each time the number of observations has
// grown by a fifth. Expected improvement is weighted by the chance of success (SurrogateSearch::success).
#include <algorithm>
#include <array>
#include <cmath>

#include "base/random.h"
#include "tuner/search/search.h"

namespace fourtune::tuner {
namespace {

using Matrix = std::vector<std::vector<double>>;  // lower triangle: row i has i + 1 entries

// Factorises in place. The matrix must be positive definite (there is noise on its diagonal).
// Column by column, so that the subtractions of a row do not wait for each other.
void cholesky(Matrix& a) {
  std::vector<double> column(a.size());
  for (std::size_t k = 0; k < a.size(); ++k) {
    a[k][k] = std::sqrt(std::max(a[k][k], 1e-12));
    for (std::size_t i = k + 1; i < a.size(); ++i) column[i] = a[i][k] /= a[k][k];
    for (std::size_t i = k + 1; i < a.size(); ++i)
      for (std::size_t j = k + 1; j <= i; ++j) a[i][j] -= column[i] * column[j];
  }
}
void solve_lower(const Matrix& l, std::vector<double>& x) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) x[i] -= l[i][k] * x[k];
    x[i] /= l[i][i];
  }
}
void solve_upper(const Matrix& l, std::vector<double>& x) {
  for (std::size_t i = x.size(); i-- > 0;) {
    for (std::size_t k = i + 1; k < x.size(); ++k) x[i] -= l[k][i] * x[k];
    x[i] /= l[i][i];
  }
}

struct Covariance {
  std::vector<double> length;
  double mix = 0.5;
  std::vector<std::vector<double>> decay;  // [axis][distance]

  void tabulate(const std::vector<int>& extent) {
    decay.resize(extent.size());
    for (std::size_t a = 0; a < extent.size(); ++a) {
      decay[a].resize(static_cast<std::size_t>(extent[a]));
      for (std::size_t d = 0; d < decay[a].size(); ++d) decay[a][d] = std::exp(-static_cast<double>(d) / length[a]);
    }
  }
  struct Parts {
    float sum, product;
  };
  Parts parts(const std::vector<int>& x, const std::vector<int>& y) const {
    double sum = 0, product = 1;
    for (std::size_t a = 0; a < x.size(); ++a) {
      const double c = decay[a][static_cast<std::size_t>(std::abs(x[a] - y[a]))];
      sum += c;
      product *= c;
    }
    if (!x.empty()) sum /= static_cast<double>(x.size());
    return {static_cast<float>(sum), static_cast<float>(product)};
  }
  double operator()(const Parts& p) const { return mix * p.sum + (1 - mix) * p.product; }
};

class SurrogateSearch : public Search {
 public:
  SurrogateSearch(const SearchSpace& space, std::uint64_t seed)
      : space_(space), random_(seed), taken_(space.size(), false), left_(space.size()), extent_(space.axes(), 1) {
    for (const auto& coordinates : space_.coordinates)
      for (std::size_t a = 0; a < coordinates.size(); ++a) extent_[a] = std::max(extent_[a], coordinates[a] + 1);
    for (const int e : extent_) covariance_.length.push_back(std::max(1.0, 0.5 * (e - 1)));
    covariance_.tabulate(extent_);
    for (const int e : extent_) outcomes_.emplace_back(static_cast<std::size_t>(e));
    make_features();
    start_ = std::clamp<std::size_t>(space.axes(), 3, 5);
  }

  std::optional<std::size_t> ask() override {
    if (left_ == 0) return std::nullopt;
    ++asked_;
    if (asked_ <= start_ || times_.size() < 3) return take(first_choice());
    update();
    return take(best_expected_improvement());
  }

  void tell(std::size_t candidate, double seconds) override {
    if (!taken_[candidate]) mark(candidate);
    if (std::isfinite(seconds) && seconds > 0) {
      for (std::size_t a = 0; a < space_.axes(); ++a) of(a, candidate).right += 1;
      told_.push_back(candidate);
      times_.push_back(std::log(seconds));
      if (told_.size() > most_observations) forget_slowest();
    } else if (failures_.size() < most_observations) {
      failures_.push_back(candidate);
    }
  }

 private:
  // The cost of the factorisation grows as the cube of the observations, the columns as the space times the
  // observations.
  static constexpr std::size_t most_observations = 300;
  static constexpr double kSlope = 0.7;

  void forget_slowest() {
    const auto slowest = std::max_element(times_.begin(), times_.end()) - times_.begin();
    told_.erase(told_.begin() + slowest);
    times_.erase(times_.begin() + slowest);
    if (slowest < static_cast<std::ptrdiff_t>(columns_.size())) columns_.erase(columns_.begin() + slowest);
  }

  // A candidate without an estimate counts as the average one.
  void make_features() {
    double sum = 0, count = 0;
    for (const double estimate : space_.estimates)
      if (estimate > 0) sum += std::log(estimate), count += 1;
    const double mean = count > 0 ? sum / count : 0;
    for (const double estimate : space_.estimates) feature_.push_back(estimate > 0 ? std::log(estimate) : mean);
  }

  // The model's favourite, then in turns a random candidate and the model's favourite of four random ones. The model's
  // next favourites would be much like the first one and say little of the space if it errs.
  std::size_t first_choice() {
    if (asked_ == 1) return favourite();
    std::size_t choice = random_left();
    if (asked_ % 2 == 1)
      for (int more = 0; more < 3; ++more)
        if (const std::size_t other = random_left(); promised(other) < promised(choice)) choice = other;
    return choice;
  }
  std::size_t favourite() {
    std::size_t best = random_left();
    for (std::size_t i = 0; i < space_.size(); ++i)
      if (!taken_[i] && promised(i) < promised(best)) best = i;
    return best;
  }
  double promised(std::size_t candidate) const {
    return space_.estimates[candidate] > 0 ? space_.estimates[candidate] : failed;
  }
  std::size_t random_left() {
    std::size_t skip = random_.below(left_);
    for (std::size_t i = 0;; ++i)
      if (!taken_[i] && skip-- == 0) return i;
  }

  // ---- the process
  void update() {
    fit_trend();
    if (told_.size() >= next_fit_) {
      fit_covariance();
      next_fit_ = told_.size() + std::max<std::size_t>(3, told_.size() / 5);  // not reached after most_observations
      columns_.clear();
      failure_columns_.clear();
    }
    extend(columns_, told_);
    extend(failure_columns_, failures_);
    factor_ = gram(covariance_);
    cholesky(factor_);
    weights_ = residual_;
    solve_lower(factor_, weights_);
    double squares = 0;
    for (const double w : weights_) squares += w * w;
    amplitude_ = std::max(squares / static_cast<double>(weights_.size()), 1e-4);
    solve_upper(factor_, weights_);
  }

  // The slope is expected to be 0.7, because models rank well but exaggerate; the process learns what it differs by.
  void fit_trend() {
    const double count = static_cast<double>(told_.size());
    double mean_time = 0;
    middle_ = 0;
    for (std::size_t i = 0; i < told_.size(); ++i) {
      middle_ += feature_[told_[i]] / count;
      mean_time += times_[i] / count;
    }
    offset_ = mean_time - kSlope * middle_;
    residual_.resize(told_.size());
    for (std::size_t i = 0; i < told_.size(); ++i) residual_[i] = times_[i] - trend(told_[i]);
  }
  double trend(std::size_t candidate) const { return offset_ + kSlope * feature_[candidate]; }
  // Of two candidates, by the variance of the slope in units of the process's.
  double slope_covariance(std::size_t a, std::size_t b) const {
    return 6 * (feature_[a] - middle_) * (feature_[b] - middle_);
  }

  Matrix gram(const Covariance& covariance) const {
    constexpr double noise = 1e-3;
    Matrix k(told_.size());
    for (std::size_t i = 0; i < told_.size(); ++i) {
      k[i].resize(i + 1);
      for (std::size_t j = 0; j <= i; ++j)
        k[i][j] = covariance(covariance.parts(space_.coordinates[told_[i]], space_.coordinates[told_[j]])) +
                  slope_covariance(told_[i], told_[j]);
      k[i][i] += noise;
    }
    return k;
  }
  // The log marginal likelihood up to a constant, maximised over the amplitude.
  double likelihood(const Covariance& covariance) const {
    Matrix k = gram(covariance);
    cholesky(k);
    std::vector<double> x = residual_;
    solve_lower(k, x);
    double squares = 1e-12, log_det = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      squares += x[i] * x[i];
      log_det += std::log(k[i][i]);
    }
    const double n = static_cast<double>(x.size());
    return -0.5 * n * std::log(squares / n) - log_det;
  }
  void fit_covariance() {
    double best = likelihood(covariance_);
    const auto attempt = [&](const Covariance& trial) {
      const double value = likelihood(trial);
      if (value <= best) return false;
      best = value;
      covariance_ = trial;
      return true;
    };
    for (std::size_t a = 0; a < extent_.size(); ++a) {
      if (extent_[a] < 2) continue;
      for (const double factor : {2.0, 0.5}) {
        Covariance trial = covariance_;
        trial.length[a] = std::clamp(trial.length[a] * factor, 0.2, 8.0 * extent_[a]);
        trial.tabulate(extent_);
        if (attempt(trial)) break;
      }
    }
    for (const double mix : {0.2, 0.5, 0.8}) {
      Covariance trial = covariance_;
      trial.mix = mix;
      attempt(trial);
    }
  }
  // The covariances of every candidate with each observation, kept until the lengths change.
  void extend(std::vector<std::vector<Covariance::Parts>>& columns, const std::vector<std::size_t>& observed) const {
    for (std::size_t o = columns.size(); o < observed.size(); ++o) {
      auto& column = columns.emplace_back();
      column.reserve(space_.size());
      for (const auto& coordinates : space_.coordinates)
        column.push_back(covariance_.parts(coordinates, space_.coordinates[observed[o]]));
    }
  }

  // What the process expects of every candidate.
  std::vector<double> means() const {
    std::vector<double> all(space_.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = trend(i);
    for (std::size_t o = 0; o < told_.size(); ++o)
      for (std::size_t i = 0; i < all.size(); ++i)
        all[i] += weights_[o] * (covariance_(columns_[o][i]) + slope_covariance(told_[o], i));
    return all;
  }
  // The standard deviations of some candidates. One triangular system is solved for all of them together.
  std::vector<double> deviations(const std::vector<std::size_t>& candidates) const {
    std::vector<double> all;
    for (const std::size_t candidate : candidates) all.push_back(1 + slope_covariance(candidate, candidate));
    std::vector<std::vector<double>> x;  // [observation][candidate]
    for (std::size_t o = 0; o < told_.size(); ++o) {
      std::vector<double>& row = x.emplace_back(candidates.size());
      for (std::size_t c = 0; c < row.size(); ++c)
        row[c] = covariance_(columns_[o][candidates[c]]) + slope_covariance(told_[o], candidates[c]);
      for (std::size_t k = 0; k < o; ++k)
        for (std::size_t c = 0; c < row.size(); ++c) row[c] -= factor_[o][k] * x[k][c];
      for (std::size_t c = 0; c < row.size(); ++c) {
        row[c] /= factor_[o][o];
        all[c] -= row[c] * row[c];
      }
    }
    for (double& variance : all) variance = std::sqrt(amplitude_ * std::max(variance, 1e-6));
    return all;
  }
  // Most failures follow from a single choice (a family that does not compile, a tile that is too large). Each failure
  // is blamed on its choices in proportion to how suspicious they are: the blame that they have beside their successes.
  void blame() {
    for (std::vector<Outcomes>& axis : outcomes_)
      for (Outcomes& outcome : axis) outcome.blame = 1;
    for (int round = 0; round < 4; ++round) {
      for (std::vector<Outcomes>& axis : outcomes_)
        for (Outcomes& outcome : axis) {
          const double suspicion = outcome.blame / (outcome.right + outcome.blame + 0.5);
          outcome.suspicion = suspicion * suspicion;
          outcome.blame = 0;
        }
      for (const std::size_t candidate : failures_) {
        double sum = 0;
        for (std::size_t a = 0; a < space_.axes(); ++a) sum += of(a, candidate).suspicion;
        for (std::size_t a = 0; a < space_.axes(); ++a) of(a, candidate).blame += of(a, candidate).suspicion / sum;
      }
    }
  }
  // The chance that each candidate gives a right result: that of its neighbours, or of its worst choice.
  std::vector<double> success() {
    constexpr double kOk = 0.3, kBad = 0.02;  // a weak belief that the candidate works
    std::vector<double> all(space_.size(), kOk), bad(space_.size(), kBad);
    for (const auto& column : columns_)
      for (std::size_t i = 0; i < all.size(); ++i) all[i] += column[i].product;
    for (const auto& column : failure_columns_)
      for (std::size_t i = 0; i < all.size(); ++i) bad[i] += column[i].product;
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i] /= all[i] + bad[i];
      for (std::size_t a = 0; a < space_.axes(); ++a) {
        const Outcomes& outcome = of(a, i);
        all[i] = std::min(all[i], (outcome.right + 0.5) / (outcome.right + outcome.blame + 0.55));
      }
    }
    return all;
  }

  std::size_t best_expected_improvement() {
    const double best = *std::min_element(times_.begin(), times_.end());
    // However much the model promises, what probably fails waits until little else is left; every eighth question is
    // free, as the model of failures may be wrong.
    constexpr double kProbablyFails = 0.25;
    const bool careful = asked_ % 8 != 0;
    blame();
    const std::vector<double> expected = means(), chance = success();
    std::vector<std::pair<double, std::size_t>> pool, doubtful;
    for (std::size_t i = 0; i < space_.size(); ++i)
      if (!taken_[i]) (careful && chance[i] < kProbablyFails ? doubtful : pool).emplace_back(expected[i], i);
    if (pool.empty()) pool.swap(doubtful);
    // The deviation is expensive, so it is computed only for the best means and for a random sample of the rest.
    const std::size_t kept = std::min<std::size_t>(pool.size(), 100);
    std::nth_element(pool.begin(), pool.begin() + static_cast<std::ptrdiff_t>(kept - 1), pool.end());
    for (std::size_t extra = 0; extra < 50 && kept + extra < pool.size(); ++extra)
      std::swap(pool[kept + extra], pool[kept + extra + random_.below(pool.size() - kept - extra)]);
    pool.resize(std::min<std::size_t>(pool.size(), kept + 50));
    std::vector<std::size_t> candidates;
    for (const auto& [predicted, i] : pool) candidates.push_back(i);
    const std::vector<double> spread = deviations(candidates);
    std::size_t choice = pool.front().second;
    double largest = -1;
    for (std::size_t c = 0; c < pool.size(); ++c) {
      const auto& [predicted, i] = pool[c];
      const double s = spread[c];
      const double z = (best - predicted) / s;
      const double density = std::exp(-0.5 * z * z) * 0.3989422804014327;
      const double improvement = s * (z * 0.5 * std::erfc(-z * 0.7071067811865476) + density) * chance[i];
      if (improvement > largest) {
        largest = improvement;
        choice = i;
      }
    }
    return choice;
  }

  void mark(std::size_t candidate) {
    taken_[candidate] = true;
    --left_;
  }
  std::size_t take(std::size_t candidate) {
    mark(candidate);
    return candidate;
  }

  const SearchSpace space_;
  Random random_;
  std::vector<bool> taken_;
  std::size_t left_, start_ = 0, asked_ = 0, next_fit_ = 0;
  std::vector<int> extent_;  // number of values of each axis
  struct Outcomes {
    double right = 0, blame = 0, suspicion = 0;
  };
  std::vector<std::vector<Outcomes>> outcomes_;  // [axis][value]
  Outcomes& of(std::size_t axis, std::size_t candidate) {
    return outcomes_[axis][static_cast<std::size_t>(space_.coordinates[candidate][axis])];
  }
  std::vector<std::size_t> told_, failures_;
  std::vector<double> times_, residual_, weights_;  // log seconds of told_; the same minus the trend; K^-1 residual
  std::vector<double> feature_;                     // the logarithm of each candidate's estimate
  double middle_ = 0;                               // the mean of those of told_
  double offset_ = 0, amplitude_ = 1;
  Covariance covariance_;
  std::vector<std::vector<Covariance::Parts>> columns_, failure_columns_;  // [observation][candidate]
  Matrix factor_;
};

}  // namespace

std::unique_ptr<Search> make_surrogate_search(const SearchSpace& space, std::uint64_t seed) {
  return std::make_unique<SurrogateSearch>(space, seed);
}

}  // namespace fourtune::tuner
