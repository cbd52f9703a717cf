// What the busiest rank has to do for an fft by slabs or pencils: what chooses a grid of ranks where nobody does.
#pragma once

#include "fourtune/problem.h"
#include "runtime/distributed/rank_plan.h"

namespace fourtune::runtime::distributed {

// The elements that the busiest rank transforms, counted once for each dimension, and those that it sends.
double fft_work(const Problem& problem, const RankGrid& grid);
double fft_sent(const Problem& problem, const RankGrid& grid);
// Both together, in elements that are transformed along one dimension. A transform and its inverse cost the same.
double fft_cost(const Problem& problem, const RankGrid& grid);
// The grid of the least cost for an fft in 3D; of equals, the one with the fewest ranks in a plane.
RankGrid best_grid(const Problem& problem, int ranks);
// Whether slabs leave some of the ranks without planes or without columns.
bool slabs_leave_ranks_idle(const Problem& problem, int ranks);

}  // namespace fourtune::runtime::distributed
