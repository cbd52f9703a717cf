// Where the grid is cut: slabs of about equal cost.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "runtime/distributed/rank_plan.h"
#include "runtime/slabs/split.h"

namespace fourtune::runtime::distributed {

// A grid and its tiles along the last dimension.
struct SlabShape {
  int dim = 3;
  std::array<std::int64_t, 3> fine{1, 1, 1};
  std::int64_t side = 1;
};

// The cost of every row of tiles with so many points, in multiply-adds.
std::vector<double> slab_costs(const SlabShape& shape, int width, const std::vector<std::int64_t>& points);
// Consecutive rows for every rank: a rank ends with the row whose middle is the last before its share of the whole
// cost. With fewer rows than ranks some ranks get none.
Split split_rows(const std::vector<double>& costs, int ranks);

// Bytes of a GPU's memory that types 1 and 2 by slabs take on a rank with an equal part of everything, roughly: grid,
// kept planes, points, and its part of values and modes as if they had to be copied.
double device_slab_bytes(const RankPlan& plan, const Problem& problem, int ranks);

// Pencils of types 1 and 2: the cells of the busiest rank of a grid of ranks, and the elements that it sends, but for
// points.
double pencil_cells(const generator::Plan& plan, const RankGrid& grid);
double pencil_sent(const generator::Plan& plan, const Problem& problem, const RankGrid& grid);
// The grid of ranks that gives the busiest one the least to do; of equals, the one with the fewest ranks in a plane.
RankGrid best_points_grid(const generator::Plan& plan, const Problem& problem, int ranks);
// Whether slabs leave some of the ranks without cells.
bool slabs_are_too_few(const generator::Plan& plan, int dim, int ranks);

}  // namespace fourtune::runtime::distributed
