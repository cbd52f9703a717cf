// Random search: a seeded shuffle. The yardstick: a strategy that is not better than this is not worth its code.
#include <numeric>

#include "tuner/random.h"
#include "tuner/search.h"

namespace fourtune::tuner {
namespace {

class RandomSearch : public Search {
 public:
  RandomSearch(std::size_t size, std::uint64_t seed) : order_(size), taken_(size, false) {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    Random random(seed);
    random.shuffle(order_);
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

std::unique_ptr<Search> make_random_search(const SearchSpace& space, std::uint64_t seed) {
  return std::make_unique<RandomSearch>(space.size(), seed);
}

}  // namespace fourtune::tuner
