// The cost of a type 3 on a CPU. Counts are exact for points that fill their boxes evenly. Prices are in nanoseconds,
// fitted to `fourtune run` stage times in 2D (docs/design/cpu-choices.md); only their ratios matter for a choice.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "generator/plan/private_tile.h"
#include "generator/plan/type3_geometry.h"
#include "generator/planner/cpu/planner.h"
#include "generator/planner/cpu/slowness.h"

namespace fourtune::generator {
namespace {

struct Prices {
  double evaluate;   // per point, dimension and tap
  double flop;       // per operation of 5 n log2 n
  double tile_line;  // per 64-byte line of a row in a private tile: spreading (tile_line), interpolation (tile_read)
  double tile_read;
  double grid_line;  // the same, straight in the grid
  double grid_read;
};
constexpr Prices kF64{0.7, 0.038, 0.58, 0.42, 0.6, 0.45}, kF32{0.45, 0.02, 0.58, 0.42, 0.6, 0.45};
constexpr double kMoveLine = 3;      // moves a line of a private tile to or from the grid; includes other work per tile
constexpr double kOutOfCache = 1.6;  // factor for private tiles larger than the L1 cache
constexpr double kAtomic = 7;        // per real number
constexpr double kUnsorted = 3;      // factor for unsorted points and grids larger than the caches
constexpr double kCell = 0.15;       // clears 16 bytes
constexpr double kSetPoint = 25;
// For two threads: kFork seconds to wake a team and join it after every stage; kBarrier seconds per additional barrier;
// kShared because points are shared unevenly. On an idle AMD EPYC, two threads take 15 us where one takes 20.
constexpr double kFork = 3e-6, kBarrier = 0.5e-6, kShared = 0.75;

// The processor that a plan is for, with its prices.
struct PricesHere {
  std::int64_t l1_bytes;
  Slowness slow;
  Prices price;
};
PricesHere prices_of(const DeviceTraits& traits, Precision precision, double threads) {
  PricesHere out{traits.l1_bytes, slowness(traits, precision, static_cast<int>(threads)),
                 precision == Precision::f64 ? kF64 : kF32};
  out.price.evaluate *= out.slow.arithmetic, out.price.flop *= out.slow.arithmetic;
  for (double* const line : {&out.price.tile_line, &out.price.tile_read, &out.price.grid_line, &out.price.grid_read})
    *line *= out.slow.near;
  return out;
}

struct Geometry {
  std::array<double, 3> outer{1, 1, 1}, inner{1, 1, 1}, held{1, 1, 1};
};

Geometry geometry_of(const Plan& plan, const Problem& problem) {
  Geometry g;
  const std::array<double, 3> extent = type3_extent(problem);
  const double pi = std::numbers::pi;
  const bool gaussian = plan.type3 == Type3Rule::gaussian;
  for (int d = 0; d < problem.dim; ++d) {
    const double sigma = gaussian ? plan.gaussian_r : plan.window.sigma;
    const double band = 2 * sigma * extent[static_cast<std::size_t>(d)] / pi;
    g.outer[d] = band + plan.window.width + 2;
    g.inner[d] = gaussian ? plan.gaussian_r * g.outer[d]
                          : plan.inner.sigma * (band + 0.5 * plan.window.width) + 0.5 * plan.window.width + 2;
    const double unwrapped = (plan.inner.width + 4) / (1 - 1 / sigma);
    if (!gaussian && unwrapped < 1.5 * g.inner[d]) g.inner[d] = std::max(g.inner[d], unwrapped);
    g.held[d] = gaussian ? g.inner[d] : std::min(g.inner[d], g.inner[d] / sigma + plan.inner.width + 2);
  }
  return g;
}

double product(const std::array<double, 3>& sizes) { return sizes[0] * sizes[1] * sizes[2]; }

// One transform between `points` points and a grid of `cells` cells.
double gridding(const Plan& plan, const Problem& problem, const PricesHere& here, int width,
                const std::array<double, 3>& cells, double points, bool spreads) {
  const Prices& price = here.price;
  const double line_cells = problem.precision == Precision::f64 ? 4 : 8;  // complex numbers per 64 bytes
  const double share = 1.0 / static_cast<double>(std::clamp<std::int64_t>(plan.chunk, 1, problem.batch));
  const double rows = std::pow(width, problem.dim - 1), lines = std::ceil(width / line_cells);
  const double evaluate = price.evaluate * width * problem.dim * share;
  const double touched = std::ceil((width + line_cells - 1) / line_cells);  // lines of the grid per row
  const double direct = evaluate + rows * touched * (spreads ? price.grid_line : price.grid_read);
  const CpuStages& stages = plan.cpu();
  if (spreads && spreader_of(stages.spread.family).atomic)
    return points * (evaluate + 2 * rows * width * kAtomic * here.slow.scalar) * (product(cells) > 1e5 ? kUnsorted : 1);
  if (stages.sort.family == SortFamily::none) return points * direct * (product(cells) > 1e5 ? kUnsorted : 1);
  const bool tiles =
      spreads ? spreader_of(stages.spread.family).private_tiles : stages.interp.family == InterpFamily::tile;
  if (!tiles) return points * direct;
  // Private tiles; runtime/backends/cpu/gridder/layout.h explains bins and slots.
  double count = 1, padded = 1;
  std::array<double, 3> tile{1, 1, 1};
  for (int d = 0; d < problem.dim; ++d) {
    tile[d] = std::min<double>(stages.sort.tile[d], cells[d]);
    count *= cells[d] / tile[d];
    if (d > 0) padded *= tile[d] + width - 1;
  }
  const double slots = lines * line_cells, bins = std::ceil(tile[0] / (slots - width + 1));
  // With too few points no tile is made: six times fewer where tiles reach to the edges of the grid (runtime's
  // engine.h).
  bool inside = true;
  for (int d = 0; d < problem.dim; ++d) inside = inside && cells[d] > 2 * tile[d];
  if (points / count * rows * (inside ? 2 : 6) <= padded * bins) return points * direct;
  const double tile_lines = bins * padded * lines;
  const double slower = tile_lines * 64 > static_cast<double>(here.l1_bytes) * 1.1 ? kOutOfCache : 1;
  return points * (evaluate + rows * lines * slower * (spreads ? price.tile_line : price.tile_read)) +
         count * tile_lines * kMoveLine * slower * here.slow.second;
}

// Passes over the lines that are neither zero nor unwanted, from the last dimension to the first.
double inner_fft(const Plan& plan, const Problem& problem, const Geometry& g, double flop) {
  double sum = 0, lines = product(g.outer);
  for (int d = problem.dim; d-- > 0;) {
    lines /= g.outer[d];
    sum += 5 * lines * g.inner[d] * std::log2(std::max(2.0, g.inner[d])) * flop;
    lines *= g.held[d];
  }
  // Blocks of few lines stay in the L1 cache; blocks of many lines walk through larger grids in longer runs.
  const double bytes = 2.0 * static_cast<double>(real_bytes(problem.precision));
  const double steps =
      std::clamp(std::log2(plan.cpu().fft.block * bytes / 128), 0.0, 3.0);  // counted from two cache lines
  return sum * (lines * bytes > 1.5e6 ? 2 * (1 - 0.1 * steps) : 1 + 0.08 * steps);
}

}  // namespace

Cost type3_cost(const Plan& plan, const Problem& problem, const DeviceTraits& traits, double threads) {
  const double k = static_cast<double>(problem.k.value_or(problem.m.value_or(10000)));
  const double m = static_cast<double>(problem.m.value_or(static_cast<std::int64_t>(k)));
  const Geometry g = geometry_of(plan, problem);
  const PricesHere here = prices_of(traits, problem.precision, threads);
  const Slowness& slow = here.slow;
  const double one = gridding(plan, problem, here, plan.window.width, g.outer, m, true) +
                     gridding(plan, problem, here, plan.inner.width, g.held, k, false) +
                     inner_fft(plan, problem, g, here.price.flop) + kCell * slow.near * product(g.outer);
  const double complex_bytes = 2.0 * static_cast<double>(real_bytes(problem.precision));
  const double batch = static_cast<double>(problem.batch);
  Cost cost;
  cost.execute = batch * one * 1e-9 / (threads > 1 ? kShared * threads : 1);
  cost.set_points = (m + k) * kSetPoint * slow.scalar * 1e-9 / threads;
  if (threads > 1) {
    const SpreadChoice& spread = plan.cpu().spread;
    const bool coloured = spreader_of(spread.family).coloured || spread.add == AddRule::colour;
    // Locks cost about as much as 4 barriers, and so do small grids of further threads, which take the place of
    // colours where these cost more: a line of points takes twice as long to spread by lists of colours.
    const bool own_grids = spread.family == SpreadFamily::colour_index &&
                           product(g.outer) * complex_bytes * (threads - 1) <= static_cast<double>(kPartialBytes);
    const double colours = std::pow(2.5, problem.dim);
    const double barriers = own_grids ? std::min(4.0, colours) : coloured ? colours : 4;
    cost.execute += (kFork + barriers * kBarrier) * slow.meeting * std::log2(threads) * batch /
                    static_cast<double>(std::max(1, plan.chunk));
  }
  const double point = (problem.dim + 1) * complex_bytes / 2;
  cost.bytes = (product(g.outer) + product(g.held)) * plan.chunk * complex_bytes + (m + k) * point + k * complex_bytes;
  return cost;
}

}  // namespace fourtune::generator
