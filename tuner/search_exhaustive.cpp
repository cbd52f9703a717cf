// Exhaustive search: every candidate once, the cost model's favourites first.
//
// For spaces that fit the budget, and the order that costs least when the budget ends early after all.
#include <algorithm>
#include <numeric>

#include "tuner/search.h"

namespace fourtune::tuner {
namespace {

class ExhaustiveSearch : public Search {
 public:
  explicit ExhaustiveSearch(const SearchSpace& space) : order_(space.size()), taken_(space.size(), false) {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    const auto key = [&](std::size_t i) { return space.estimates[i] > 0 ? space.estimates[i] : failed; };
    std::stable_sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
  }

  std::optional<std::size_t> ask() override {
    while (next_ < order_.size() && taken_[order_[next_]]) ++next_;
    if (next_ == order_.size()) return std::nullopt;
    taken_[order_[next_]] = true;
    return order_[next_];
  }
  void tell(std::size_t candidate, double) override { taken_[candidate] = true; }

 private:
  std::vector<std::size_t> order_;
  std::vector<bool> taken_;
  std::size_t next_ = 0;
};

}  // namespace

std::unique_ptr<Search> make_exhaustive_search(const SearchSpace& space, std::uint64_t) {
  return std::make_unique<ExhaustiveSearch>(space);
}

}  // namespace fourtune::tuner
