#include "runtime/distributed/slab_cost.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "runtime/distributed/transposition_pieces.h"

namespace fourtune::runtime::distributed {
namespace {

std::int64_t tile_side(const generator::Plan& plan, int d) {
  return std::min<std::int64_t>(plan.cpu().sort.tile[d], plan.window.fine[d]);
}
std::int64_t rows_of_tiles(const generator::Plan& plan, int d) {
  return (plan.window.fine[d] + tile_side(plan, d) - 1) / tile_side(plan, d);
}

// The cells along y and z of a rank that has as many rows of tiles as any.
struct BusiestPencil {
  double y, z;
  BusiestPencil(const generator::Plan& plan, const RankGrid& grid)
      : y(most(plan, 1, grid.in_plane)), z(most(plan, 2, grid.of_planes)) {}

 private:
  static double most(const generator::Plan& plan, int d, int parts) {
    const std::int64_t rows = (rows_of_tiles(plan, d) + parts - 1) / parts;
    return static_cast<double>(std::min(rows * tile_side(plan, d), plan.window.fine[d]));
  }
};

}  // namespace

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

double device_slab_bytes(const RankPlan& plan, const Problem& problem, int ranks) {
  constexpr double kOther = 0.5e9;  // kernels, tables, lists
  constexpr double kSorted = 24;    // bytes that a sort keeps of a point beside its coordinates
  const double real = static_cast<double>(real_bytes(problem.precision)), element = 2 * real;
  const auto& fine = plan.local.window.fine;
  const auto last = static_cast<std::size_t>(problem.dim - 1);
  const auto parts = [&](double n) { return std::ceil(n / ranks); };
  double plane = 1, kept_plane = 1;
  for (std::size_t d = 0; d < last; ++d)
    plane *= static_cast<double>(fine[d]), kept_plane *= static_cast<double>(problem.n[static_cast<int>(d)]);
  const double cells = static_cast<double>(fine[last]), stored = parts(cells) + 3.0 * plan.local.window.width;
  const double held = plan.kept == Kept::grid ? 0 : ranks <= kMostJoined ? cells : 2 * parts(cells);
  const auto together =
      static_cast<double>(plan.kept == Kept::grid ? 1 : std::clamp<std::int64_t>(plan.local.chunk, 1, problem.batch));
  const double grids = stored * plane * element * together, batch = static_cast<double>(problem.batch);
  const double points = parts(static_cast<double>(problem.m.value_or(0)));
  return grids + held * kept_plane * element + std::min(grids, static_cast<double>(piece_bytes)) +
         parts(static_cast<double>(mode_count(problem))) * element * batch +
         points * (3 * problem.dim * real + (batch + together) * element + kSorted) + kOther;
}

double pencil_cells(const generator::Plan& plan, const RankGrid& grid) {
  const BusiestPencil busiest(plan, grid);
  return static_cast<double>(plan.window.fine[0]) * busiest.y * busiest.z;
}

double pencil_sent(const generator::Plan& plan, const Problem& problem, const RankGrid& grid) {
  const BusiestPencil busiest(plan, grid);
  const auto part = [](std::int64_t n, int parts) { return static_cast<double>((n + parts - 1) / parts); };
  const auto x = static_cast<double>(plan.window.fine[0]), shared = plan.window.width - 1.0;
  const auto n_x = static_cast<double>(problem.n[0]), n_y = static_cast<double>(problem.n[1]);
  const double own_x = part(problem.n[0], grid.in_plane);
  double sent = busiest.z * busiest.y * (n_x - own_x) + busiest.z * own_x * (n_y - part(problem.n[1], grid.ranks()));
  if (grid.in_plane > 1) sent += shared * x * (busiest.z + shared);
  if (grid.of_planes > 1) sent += shared * x * busiest.y;
  return sent;
}

// A cell is transformed along each dimension, and what is sent costs two such steps (fft_cost.cpp).
RankGrid best_points_grid(const generator::Plan& plan, const Problem& problem, int ranks) {
  const auto cost = [&](const RankGrid& grid) {
    return 3 * pencil_cells(plan, grid) + 2 * pencil_sent(plan, problem, grid);
  };
  const std::vector<RankGrid> grids = grids_of(ranks);
  return *std::min_element(grids.begin(), grids.end(),
                           [&](const RankGrid& a, const RankGrid& b) { return cost(a) < cost(b); });
}

bool slabs_are_too_few(const generator::Plan& plan, int dim, int ranks) { return rows_of_tiles(plan, dim - 1) < ranks; }

}  // namespace fourtune::runtime::distributed
