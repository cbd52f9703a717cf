// Genetic search: the best candidates so far are parents. A child takes each of its coordinates from one of two
// parents, and sometimes from a random candidate (Holland 1975; uniform crossover: Syswerda 1989). A child that is no
// candidate, or was measured, becomes the nearest one that was not. The first generation is the model's favourites and
// random candidates in turn.
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "base/random.h"
#include "tuner/search/search.h"

namespace fourtune::tuner {
namespace {

class GeneticSearch : public Search {
 public:
  GeneticSearch(const SearchSpace& space, std::uint64_t seed)
      : space_(space), random_(seed), taken_(space.size(), false), left_(space.size()) {
    ranking_.resize(space.size());
    std::iota(ranking_.begin(), ranking_.end(), std::size_t{0});
    random_.shuffle(ranking_);  // ties of the model's estimates are in random order
    const auto key = [&](std::size_t i) { return space_.estimates[i] > 0 ? space_.estimates[i] : failed; };
    std::stable_sort(ranking_.begin(), ranking_.end(), [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
    for (std::size_t i = 0; i < space_.size(); ++i) place_.emplace(space_.coordinates[i], i);
  }

  std::optional<std::size_t> ask() override {
    if (left_ == 0) return std::nullopt;
    ++asked_;
    if (asked_ <= first_generation || parents_.size() < 2) return take(asked_ % 2 == 1 ? favourite() : random_left());
    return take(child());
  }

  void tell(std::size_t candidate, double seconds) override {
    if (!taken_[candidate]) take(candidate);
    if (!std::isfinite(seconds) || !(seconds > 0)) return;
    parents_.emplace_back(seconds, candidate);
    std::sort(parents_.begin(), parents_.end());
    if (parents_.size() > most_parents) parents_.pop_back();
  }

 private:
  static constexpr std::size_t most_parents = 16, first_generation = 12;

  std::size_t favourite() {
    while (taken_[ranking_[next_]]) ++next_;
    return ranking_[next_];
  }
  std::size_t random_left() {
    std::size_t skip = random_.below(left_);
    for (std::size_t i = 0;; ++i)
      if (!taken_[i] && skip-- == 0) return i;
  }
  // The better of two random parents.
  std::size_t parent() {
    const std::size_t a = random_.below(parents_.size()), b = random_.below(parents_.size());
    return parents_[std::min(a, b)].second;
  }

  std::size_t child() {
    constexpr int most_tries = 20;
    const double mutation = 1.0 / static_cast<double>(std::max<std::size_t>(1, space_.axes()));
    std::vector<int> coordinates;
    for (int attempt = 0; attempt < most_tries; ++attempt) {
      const auto &a = space_.coordinates[parent()], &b = space_.coordinates[parent()],
                 &other = space_.coordinates[random_.below(space_.size())];
      coordinates = a;
      for (std::size_t axis = 0; axis < coordinates.size(); ++axis) {
        if (random_.uniform() < 0.5) coordinates[axis] = b[axis];
        if (random_.uniform() < mutation) coordinates[axis] = other[axis];
      }
      if (const auto found = place_.find(coordinates); found != place_.end() && !taken_[found->second])
        return found->second;
    }
    return nearest(coordinates);
  }
  // Of those that differ in as few coordinates, the model's favourite.
  std::size_t nearest(const std::vector<int>& coordinates) const {
    std::size_t best = 0, fewest = space_.axes() + 1;
    for (const std::size_t i : ranking_) {
      if (taken_[i]) continue;
      std::size_t differing = 0;
      for (std::size_t axis = 0; axis < coordinates.size(); ++axis)
        differing += space_.coordinates[i][axis] != coordinates[axis];
      if (differing < fewest) best = i, fewest = differing;
    }
    return best;
  }
  std::size_t take(std::size_t candidate) {
    taken_[candidate] = true;
    --left_;
    return candidate;
  }

  const SearchSpace space_;
  Random random_;
  std::map<std::vector<int>, std::size_t> place_;
  std::vector<std::size_t> ranking_;
  std::vector<bool> taken_;
  std::size_t left_, next_ = 0, asked_ = 0;
  std::vector<std::pair<double, std::size_t>> parents_;  // the fastest first
};

}  // namespace

std::unique_ptr<Search> make_genetic_search(const SearchSpace& space, std::uint64_t seed) {
  return std::make_unique<GeneticSearch>(space, seed);
}

}  // namespace fourtune::tuner
