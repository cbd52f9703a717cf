// Search strategies: they choose the candidate to measure next, given everything measured so far.
//
// Strategies know nothing of plans, clocks or databases: a space consists of coordinates and model estimates, and an
// observation is a time or a failure. Their quality can therefore be tested offline by replaying recorded spaces
// (replay.h). Each is in a source of its name: ordered.cpp, local.cpp, genetic.cpp, surrogate.cpp, portfolio.cpp.
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
// 1. All coordinate vectors are distinct and have the same length (one index per axis).
// 2. estimates has one entry per candidate: the cost model's seconds, or 0 where it has none.
struct SearchSpace {
  std::vector<std::vector<int>> coordinates;
  std::vector<double> estimates;

  std::size_t size() const noexcept { return coordinates.size(); }
  std::size_t axes() const noexcept { return coordinates.empty() ? 0 : coordinates.front().size(); }
};
SearchSpace search_space(const generator::Space& space);

// The value that tell() takes for a candidate that gave no right result, for whatever reason.
inline constexpr double failed = std::numeric_limits<double>::infinity();

// One search over one space. Not thread-safe. Deterministic: the same space, seed and observations give the same asks.
class Search {
 public:
  virtual ~Search() = default;
  // Returns the next candidate to measure, never one that was asked or told before, or nullopt when none is left. May
  // be called again before the last answer is told, so that work can be prepared ahead.
  virtual std::optional<std::size_t> ask() = 0;
  // Takes the seconds of one execute, or `failed`. Candidates that were never asked are accepted too (from earlier
  // sessions, and incumbents).
  virtual void tell(std::size_t candidate, double seconds) = 0;
};

struct Strategy {
  std::string_view name;
  std::string_view summary;
  std::unique_ptr<Search> (*make)(const SearchSpace& space, std::uint64_t seed);  // copies what it needs of the space
};

// Every strategy of this build; the one table that lists them.
std::span<const Strategy> strategies();
// Finds a strategy by name. Throws Error{invalid_option} with a message that lists the names.
const Strategy& find_strategy(std::string_view name);
// The strategy of sessions that name none: exhaustive where all candidates can be measured, else the best one in the
// replay tests.
const Strategy& default_strategy(std::size_t candidates, std::size_t affordable_evaluations);

std::unique_ptr<Search> make_exhaustive_search(const SearchSpace& space, std::uint64_t seed);
std::unique_ptr<Search> make_random_search(const SearchSpace& space, std::uint64_t seed);
std::unique_ptr<Search> make_local_search(const SearchSpace& space, std::uint64_t seed);
std::unique_ptr<Search> make_surrogate_search(const SearchSpace& space, std::uint64_t seed);
std::unique_ptr<Search> make_genetic_search(const SearchSpace& space, std::uint64_t seed);
std::unique_ptr<Search> make_portfolio_search(const SearchSpace& space, std::uint64_t seed);

}  // namespace fourtune::tuner
