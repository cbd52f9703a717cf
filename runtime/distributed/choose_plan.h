// Chooses how a distributed transform is split and what its ranks compute.
#pragma once

#include <string>

#include "fourtune/device_traits.h"
#include "fourtune/transform.h"
#include "runtime/distributed/communicator.h"
#include "runtime/distributed/rank_plan.h"

namespace fourtune::runtime::distributed {

struct ChosenPlan {
  RankPlan plan;
  std::string forced_local;  // replicated: the plan that every rank has to use, if any
  std::string explain;
};

// Rank 0 chooses, from what is known on its machine, and the others take the text, so that all ranks have the same
// window and tiles; each has its own number of threads. The problem has the point counts of all ranks. Throws the same
// Error on every rank: invalid_plan for a forced plan that is none or does not fit, unsupported for what cannot be
// split.
ChosenPlan choose_plan(const Communicator& ranks, const Problem& problem, const DeviceTraits& traits,
                       const Options& options);

}  // namespace fourtune::runtime::distributed
