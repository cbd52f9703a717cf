// The two strategies that learn nothing: they measure every candidate once, in an order fixed beforehand.
//
// exhaustive  begins with the cost model's best candidates; for spaces that fit the budget, and the order that loses
//             least when the budget ends early after all
// random      a seeded shuffle, as the yardstick: a strategy that is not better than this is not worth its code
#include <algorithm>
#include <numeric>

#include "base/random.h"
#include "tuner/search/search.h"

namespace fourtune::tuner {
namespace {

std::vector<std::size_t> all_of(const SearchSpace& space) {
  std::vector<std::size_t> order(space.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  return order;
}

class OrderedSearch : public Search {
 public:
  explicit OrderedSearch(std::vector<std::size_t> order) : order_(std::move(order)), taken_(order_.size(), false) {}

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
  std::vector<std::size_t> order = all_of(space);
  const auto key = [&](std::size_t i) { return space.estimates[i] > 0 ? space.estimates[i] : failed; };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
  return std::make_unique<OrderedSearch>(std::move(order));
}

std::unique_ptr<Search> make_random_search(const SearchSpace& space, std::uint64_t seed) {
  std::vector<std::size_t> order = all_of(space);
  Random(seed).shuffle(order);
  return std::make_unique<OrderedSearch>(std::move(order));
}

}  // namespace fourtune::tuner
