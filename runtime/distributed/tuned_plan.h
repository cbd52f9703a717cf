// Plans that `fourtune tune --ranks` has found, in the same databases as those of one process.
//
// A verdict is for a problem, of all ranks together, in an environment: that of one rank's device, with the numbers of
// ranks and machines in its name. So verdicts of one process, or of another number of ranks, are never mistaken for it.
#pragma once

#include <optional>
#include <string>

#include "db/lookup.h"
#include "db/records.h"
#include "runtime/distributed/exchange.h"

namespace fourtune::runtime::distributed {

// Who computes together.
struct Crew {
  int ranks = 1, machines = 1;
  ExchangeMeans means{};
  std::int64_t device_bytes = 0;  // that every rank's GPU has for a transform; 0: unknown
};

// `rank`: the environment of one rank, with its share of the machine's cores.
db::Environment environment_of(const Crew& crew, db::Environment rank);

// Parses a text that names its decomposition and the plan of a rank (which ranks=replicated may leave out). Throws
// Error{invalid_plan} when it is none, or cannot be right for the problem on so many ranks.
RankPlan parse_tuned(const std::string& text, const Problem& problem, int ranks);

struct TunedPlan {
  RankPlan plan;
  std::string why;  // where it was found, and what it was measured for
};
// The winner for this problem in this environment of so many ranks, or for one whose validity covers the problem.
// Stored plans are not trusted: `notes` gets a line for each that is passed over.
std::optional<TunedPlan> find_tuned(const Problem& problem, const db::Environment& here, const db::Lookup& lookup,
                                    int ranks, std::string& notes);

}  // namespace fourtune::runtime::distributed
