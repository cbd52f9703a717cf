#include "runtime/distributed/slab_cost.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace fourtune::runtime::distributed {

std::vector<double> slab_costs(const SlabShape& shape, int width, const std::vector<std::int64_t>& points) {
  const auto last = static_cast<std::size_t>(shape.dim - 1);
  double plane = 1;
  for (std::size_t d = 0; d < last; ++d) plane *= static_cast<double>(shape.fine[d]);
  // A point's window, its weights (a polynomial of some ten terms for each of its cells in each dimension) and its
  // place; a cell's share of the transforms of its plane.
  const double point = std::pow(width, shape.dim) + 10.0 * width * shape.dim + 50;
  const double cell = 2.5 * std::log2(std::max(plane, 2.0));
  std::vector<double> costs(points.size());
  for (std::size_t r = 0; r < points.size(); ++r) {
    const std::int64_t begin = static_cast<std::int64_t>(r) * shape.side;
    const std::int64_t cells = std::min(shape.side, shape.fine[last] - begin);
    costs[r] = static_cast<double>(points[r]) * point + static_cast<double>(cells) * plane * cell;
  }
  return costs;
}

Split split_rows(const std::vector<double>& costs, int ranks) {
  const double all = std::accumulate(costs.begin(), costs.end(), 0.0);
  std::vector<std::int64_t> starts{0};
  double before = 0;
  std::size_t row = 0;
  for (int r = 1; r < ranks; ++r) {
    const double share = all * r / ranks * (1 + 1e-12);  // rounding decides no tie
    while (row < costs.size() && before + costs[row] / 2 <= share) before += costs[row++];
    starts.push_back(static_cast<std::int64_t>(row));
  }
  starts.push_back(static_cast<std::int64_t>(costs.size()));
  return Split(std::move(starts));
}

}  // namespace fourtune::runtime::distributed
