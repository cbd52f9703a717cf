// Where the grid is cut: slabs of about equal cost.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/distributed/slab_grid.h"
#include "runtime/slabs/split.h"

namespace fourtune::runtime::distributed {

// The cost of every row of tiles with so many points, in multiply-adds.
std::vector<double> slab_costs(const SlabShape& shape, int width, const std::vector<std::int64_t>& points);
// Consecutive rows for every rank: a rank ends with the row whose middle is the last before its share of the whole
// cost. With fewer rows than ranks some ranks get none.
Split split_rows(const std::vector<double>& costs, int ranks);

}  // namespace fourtune::runtime::distributed
