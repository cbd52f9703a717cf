// Portfolio search: other strategies take turns, and all of them see every result. Who found improvements lately is
// asked more often (an adaptive pursuit, Thierens 2005): what suits the space is learned while it is searched.
#include <algorithm>
#include <array>
#include <cmath>

#include "base/random.h"
#include "tuner/search/search.h"

namespace fourtune::tuner {
namespace {

class PortfolioSearch : public Search {
 public:
  PortfolioSearch(const SearchSpace& space, std::uint64_t seed)
      : random_(seed),
        asker_(space.size(), nobody),
        members_{Member{make_surrogate_search(space, seed)}, Member{make_local_search(space, seed)},
                 Member{make_genetic_search(space, seed)}} {}

  std::optional<std::size_t> ask() override {
    std::size_t first = turn();
    for (std::size_t i = 0; i < members_.size(); ++i, first = (first + 1) % members_.size())
      while (const auto candidate = members_[first].search->ask()) {
        if (asker_[*candidate] != nobody) continue;  // another one asked for it, and has no answer yet
        asker_[*candidate] = first;
        return candidate;
      }
    return std::nullopt;
  }

  void tell(std::size_t candidate, double seconds) override {
    const std::size_t asker = asker_[candidate];
    if (asker == nobody) asker_[candidate] = told;
    for (Member& member : members_) member.search->tell(candidate, seconds);
    const bool better = std::isfinite(seconds) && seconds > 0 && (best_ == 0 || seconds < best_);
    const double gain = better && best_ > 0 ? std::min(1.0, std::log(best_ / seconds) / worth_all) : 0;
    if (better) best_ = seconds;
    if (asker < members_.size()) members_[asker].credit += memory * (gain - members_[asker].credit);
  }

 private:
  struct Member {
    std::unique_ptr<Search> search;
    double credit = 1;  // of its recent answers; who was not asked yet has all
  };
  static constexpr std::size_t nobody = static_cast<std::size_t>(-1), told = nobody - 1;
  static constexpr double memory = 0.15;     // of one answer
  static constexpr double least = 0.05;      // credit with which anybody is asked at times
  static constexpr double worth_all = 0.05;  // an improvement, as a logarithm, that gives all credit

  // A random member, in proportion to the credits. The first one is the surrogate, which is the best alone.
  std::size_t turn() {
    if (best_ == 0) return 0;
    double sum = 0;
    for (const Member& member : members_) sum += member.credit + least;
    double place = random_.uniform() * sum;
    for (std::size_t i = 0; i + 1 < members_.size(); ++i)
      if ((place -= members_[i].credit + least) < 0) return i;
    return members_.size() - 1;
  }

  Random random_;
  std::vector<std::size_t> asker_;  // of each candidate
  std::array<Member, 3> members_;
  double best_ = 0;
};

}  // namespace

std::unique_ptr<Search> make_portfolio_search(const SearchSpace& space, std::uint64_t seed) {
  return std::make_unique<PortfolioSearch>(space, seed);
}

}  // namespace fourtune::tuner
