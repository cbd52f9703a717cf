// Chooses how a distributed transform is split and what its ranks compute.
#pragma once

#include <string>

#include "fourtune/device_traits.h"
#include "fourtune/transform.h"
#include "runtime/distributed/communicator.h"
#include "runtime/distributed/rank_plan.h"
#include "runtime/distributed/tuned_plan.h"

namespace fourtune::runtime::distributed {

struct ChosenPlan {
  RankPlan plan;
  std::string explain;
};

// What rank 0 chooses for so many ranks, with what `lookup` (null: nothing) has been tuned: a forced plan, else a tuned
// one (not with `deterministic`, as other numbers of ranks have other ones), else by the cost model. Does not
// communicate; throws what choose_plan() throws.
ChosenPlan choose_on_first(const Crew& crew, const Problem& problem, const DeviceTraits& traits, const Options& options,
                           const db::Lookup* lookup);

// Rank 0 chooses, from what is known on its machine, and the others take the text, so that all ranks have the same
// window and tiles; each has its own number of threads. device_bytes: as in Crew. The problem has the point counts of
// all ranks. Throws the same Error on every rank: invalid_plan for a forced plan that is none or does not fit,
// unsupported for what cannot be split.
ChosenPlan choose_plan(const Communicator& ranks, const ExchangeMeans& means, std::int64_t device_bytes,
                       const Problem& problem, const DeviceTraits& traits, const Options& options);

}  // namespace fourtune::runtime::distributed
