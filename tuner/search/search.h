// Search strategies: which candidate to measure next, given everything measured so far.
//
// Strategies know nothing of plans, clocks or databases: a space is coordinates and model estimates, an observation is
// a time or a failure. That is why their quality can be tested offline, by replaying recorded spaces (replay.h).
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "generator/candidates.h"

namespace fourtune::tuner {

// The shape of a search space.
// 1. All coordinate vectors have the same length (one index an axis) and are distinct.
// 2. estimates has one entry a candidate: seconds by the cost model, 0 where there is none.
struct SearchSpace {
  std::vector<std::vector<int>> coordinates;
  std::vector<double> estimates;

  std::size_t size() const noexcept { return coordinates.size(); }
  std::size_t axes() const noexcept { return coordinates.empty() ? 0 : coordinates.front().size(); }
};
SearchSpace search_space(const generator::Space& space);

// What tell() takes for a candidate that did not give a right result, for whatever reason.
inline constexpr double failed = std::numeric_limits<double>::infinity();

// One search over one space. Not thread-safe. Deterministic: the same space, seed and observations give the same asks.
class Search {
 public:
  virtual ~Search() = default;
  // The next candidate to measure, never one asked or told before; nullopt when none is left. May be called again
  // before the answer to the last one is told, so that work can be prepared ahead.
  virtual std::optional<std::size_t> ask() = 0;
  // Seconds of one execute, or `failed`. Candidates that were never asked are welcome too (earlier sessions,
  // incumbents).
  virtual void tell(std::size_t candidate, double seconds) = 0;
};

struct Strategy {
  std::string_view name;
  std::string_view summary;
  std::unique_ptr<Search> (*make)(const SearchSpace& space, std::uint64_t seed);  // copies what it needs of the space
};

// Every strategy of this build; the one table that lists them.
std::span<const Strategy> strategies();
// By name. Throws Error{invalid_option} that lists the names.
const Strategy& find_strategy(std::string_view name);
// What a session uses when none is named: exhaustive where all can be measured, else the best of the replay tests.
const Strategy& default_strategy(std::size_t candidates, std::size_t affordable_evaluations);

std::unique_ptr<Search> make_exhaustive_search(const SearchSpace& space, std::uint64_t seed);
std::unique_ptr<Search> make_random_search(const SearchSpace& space, std::uint64_t seed);
std::unique_ptr<Search> make_local_search(const SearchSpace& space, std::uint64_t seed);
std::unique_ptr<Search> make_surrogate_search(const SearchSpace& space, std::uint64_t seed);

}  // namespace fourtune::tuner
