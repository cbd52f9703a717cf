#include "tuner/search/search.h"

#include <array>
#include <string>

#include "base/text.h"
#include "fourtune/status.h"

namespace fourtune::tuner {
namespace {

constexpr std::array<Strategy, 6> table{{
    {"exhaustive", "every candidate, in the cost model's order", make_exhaustive_search},
    {"random", "every candidate, in random order: what the others are compared with", make_random_search},
    {"local", "the model's first choices, then axis neighbours of the best by measured axis effects, with restarts",
     make_local_search},
    {"surrogate", "the model's first choices, then the largest expected improvement of a Gaussian process",
     make_surrogate_search},
    {"genetic", "children of the best so far, with crossover and mutation", make_genetic_search},
    {"portfolio", "surrogate, local and genetic in turns, who found improvements lately more often",
     make_portfolio_search},
}};

}  // namespace

SearchSpace search_space(const generator::Space& space) {
  SearchSpace result;
  for (const generator::Candidate& candidate : space.candidates) {
    result.coordinates.push_back(candidate.coordinates);
    result.estimates.push_back(candidate.estimate);
  }
  return result;
}

std::span<const Strategy> strategies() { return table; }

const Strategy& find_strategy(std::string_view name) {
  std::string names;
  for (const Strategy& strategy : table) {
    if (strategy.name == name) return strategy;
    names += (names.empty() ? "" : ", ") + std::string(strategy.name);
  }
  throw Error(Status::invalid_option, "no search strategy '" + text::shown(name) + "'; there are: " + names);
}

const Strategy& default_strategy(std::size_t candidates, std::size_t affordable_evaluations) {
  return find_strategy(candidates <= affordable_evaluations ? "exhaustive" : "surrogate");
}

}  // namespace fourtune::tuner
