// Counts what spreading and interpolation do. The counts say what a kernel waits for or issues; what they cost was
// fitted to measured plans (tools/fit/fit_nufft_prices.cpp, docs/design/gpu-nufft.md).
#include "generator/planner/gpu_nufft/gridding.h"

#include <algorithm>
#include <cmath>

namespace fourtune::generator::gpu_nufft {
namespace {

using nufft::Interpolate;
using nufft::Parameters;
using nufft::Spread;

// How the points of a kernel lie in bins and subproblems.
struct Load {
  double density = 0;  // points per cell where there are any
  double tasks = 0;    // subproblems of a transform
  double longest = 0;  // points of the longest one
  double padded = 1;   // cells of a padded bin
};

// Columns of sliding windows reach along the last dimension, clusters only through a part of it.
Load load_of(const Gridding& g, const Parameters& with) {
  const auto dim = static_cast<std::size_t>(g.dim);
  Load out;
  out.density = g.points / std::max(1.0, g.cells() * g.share);
  double bin = 1;
  for (std::size_t d = 0; d < dim; ++d) {
    const bool along = with.order == nufft::RecordOrder::slide && d > 0 && d + 1 == dim;
    bin *= along ? g.fine[d] * (g.share < 0.1 ? std::pow(g.share, 1.0 / g.dim) : 1) : with.bin[d];
    out.padded *= with.bin[d] + g.width - 1;
  }
  const double held = out.density * bin, bins = std::max(1.0, g.cells() * g.share / bin);
  const double share = 1 - std::exp(-held), mean = std::max(1.0, held / std::max(share, 1e-12));
  out.tasks = bins * share + g.points / with.cap;
  out.longest = std::min({1.0 * with.cap, mean * (g.share < 1 ? 2 : 1) + 2 * std::sqrt(mean), g.points});
  return out;
}

// Fills the counts of one kernel.
class Counting {
 public:
  Counting(const Gridding& g, const Parameters& with, KernelKind kind)
      : g_(g),
        with_(with),
        load_(load_of(g, with)),
        points_(g.points * g.together),
        far_(g.cells() * g.complex_bytes() > g.cache()) {
    kind.dim = g.dim, kind.precision = g.precision, kind.groups = with.group > 1;
    work_.kind = kind;
    set(Count::launch, 1), set(Count::point, points_);
  }

  // Register windows in a warp, or several, that slide through points sorted by (column, last cell).
  void window() {
    const double tile = tile_cells(), planes = g_.dim == 1 ? 1 : g_.width;
    const int halves = g_.dim < 3 ? with_.split : 1;
    const double kept = std::ceil(tile * halves / (32.0 * with_.warps)) * planes * with_.warps / halves;
    set(Count::cell, points_ * kept), set(Count::warp, points_ * with_.warps);
    moved_planes(tile, planes);
    set(Count::chain, load_.longest / with_.split);
    set(Count::chain_cell, load_.longest / with_.split * kept / with_.warps);
    set(Count::task, load_.tasks * g_.together * tile * planes);
    meets(tile * planes);
  }

  // Matrix units in single precision take up to `at_once` points that begin within 9 - w planes of a column.
  void products(double at_once) {
    const double together = std::max(1.0, load_.density * columns() * std::max(1, 9 - g_.width));
    set(Count::product, points_ * at_once * std::min(1.0, 1 / at_once + 0.5 / together));
    moved_planes(tile_cells(), g_.width);
    set(Count::chain, load_.longest);
    set(Count::task, load_.tasks * g_.together * tile_cells() * g_.width);
    meets(tile_cells() * g_.width);
  }

  // Matrix units in double precision take 16 points of a tile at a time.
  void matrix() {
    double tile = 1;
    for (std::size_t d = 0; d < 2; ++d) tile *= std::ceil((with_.bin[d] + g_.width - 1) / 4.0) * 4;
    const double planes = g_.dim == 3 ? g_.width : 1, found = 1 - std::exp(-load_.density * columns() * planes);
    const double bins = g_.cells() * g_.share / columns() * found;
    const double steps = std::max(g_.points, 16 * bins / planes) * g_.together;
    set(Count::warp, steps), set(Count::product, steps * tile * planes);
    set(Count::task, load_.tasks * g_.together);
    moved(bins * tile * g_.complex_bytes() * g_.together);
    set(Count::chain, load_.longest / with_.warps);
    set(Count::chain_cell, load_.longest / with_.warps * planes * tile / 64);
  }

  // Padded bins in shared memory.
  void tiles(bool interpolates) {
    const double slices = with_.slice > 0 ? std::ceil(g_.points / with_.slice) : 1;
    set(Count::cell, points_ * g_.stencil());
    moved(load_.tasks * slices * load_.padded * g_.together);
    if (with_.group > 1) set(Count::warp, points_ / with_.group);
    set(Count::chain, load_.longest / with_.warps);
    set(Count::chain_cell, load_.longest / with_.warps * g_.stencil() * with_.group / 32);
    set(Count::task, load_.tasks * g_.together / with_.group);
    if (interpolates) set(Count::single, g_.stencil() / with_.lanes);
    meets(load_.padded);
  }

  // Straight to or from the grid.
  void direct(bool spreads) {
    const double line = g_.width * g_.complex_bytes() + 64;  // bytes of the sectors of a line of cells
    set(Count::cell, points_ * g_.stencil());
    set(far_ ? Count::alone_far : Count::alone,
        points_ * std::exp(-4 * load_.density) * std::pow(g_.width, g_.dim - 1) * line);
    set(Count::single, g_.stencil() / std::max(1, with_.lanes));
    if (spreads) {
      set(Count::product, with_.lanes == 1 ? points_ * g_.stencil() : 0);
      set(Count::warp, far_ ? points_ * g_.stencil() : 0);
      // Additions of a cluster meet in its cells.
      set(Count::chain_cell, g_.share < 0.1 ? g_.stencil() * std::min(g_.points, load_.density) : 0);
    }
    if (with_.slice > 0)
      set(Count::again, std::ceil(g_.points / with_.slice) * g_.cells() * g_.complex_bytes() * g_.together);
  }

  // Values that are written in random order: the more of them, of a slice, the fewer in the cache.
  void scatter() {
    const double values = (with_.slice > 0 ? std::min(1.0 * with_.slice, g_.points) : g_.points) * g_.complex_bytes();
    set(Count::scattered, points_ * values / (values + 8e6));
    if (with_.slice == 0 && g_.points * g_.complex_bytes() > g_.cache()) set(Count::lines, points_);
  }

  const Work& work() const { return work_; }

 private:
  void set(Count count, double value) { work_.counts[static_cast<std::size_t>(count)] = value; }
  void moved(double value) { set(far_ ? Count::moved_far : Count::moved, value); }
  // Subproblems that add their tiles to the same cells, where they wait for each other: many in a cluster.
  void meets(double tile) {
    if (work_.kind.stage == Stage::spread) set(Count::lines, load_.tasks * tile / std::max(1.0, g_.cells() * g_.share));
  }
  double columns() const { return 1.0 * with_.bin[0] * (g_.dim == 1 ? 1 : with_.bin[1]); }
  double tile_cells() const {
    return (with_.bin[0] + g_.width - 1.0) * (g_.dim == 3 ? with_.bin[1] + g_.width - 1.0 : 1);
  }
  // A window also passes the planes between its points, but it restarts after long gaps and in every subproblem.
  void moved_planes(double tile, double planes) {
    const double in_plane = load_.density * columns(), found = 1 - std::exp(-in_plane * planes);
    const double length =
        std::clamp(with_.cap / std::max(in_plane, 1e-9), 1.0, g_.fine[static_cast<std::size_t>(g_.dim - 1)]);
    moved(g_.cells() * g_.share * tile / columns() * found * (1 + (planes - 1) / length) * g_.together /
          (with_.run == 2 ? 1.4 : 1));
  }

  const Gridding& g_;
  const Parameters& with_;
  Load load_;
  double points_;
  bool far_;
  Work work_;
};

}  // namespace

Work spread_work(const Gridding& g, Spread family, const Parameters& with) {
  // The published kernels are those of `points` and of `tile_atomic` with an older sort.
  if (family == Spread::gm || family == Spread::gm_sort) family = Spread::points;
  if (family == Spread::sm) family = Spread::tile_atomic;
  Counting counting(g, with, {Stage::spread, static_cast<int>(family)});
  switch (family) {
    case Spread::window:
      counting.window();
      break;
    case Spread::tf32x3:
      counting.products(8);
      break;
    case Spread::tile_owned:
    case Spread::tile_atomic:
    case Spread::sm:
      counting.tiles(false);
      break;
    case Spread::points:
    case Spread::gm:
    case Spread::gm_sort:
      counting.direct(true);
      break;
  }
  return counting.work();
}

Work interpolate_work(const Gridding& g, Interpolate family, const Parameters& with) {
  if (family == Interpolate::gm || family == Interpolate::gm_sort) family = Interpolate::points;
  Counting counting(g, with, {Stage::interpolate, static_cast<int>(family)});
  switch (family) {
    case Interpolate::window:
      counting.window();
      break;
    case Interpolate::tf32x3:
      counting.products(16);
      break;
    case Interpolate::matrix:
      counting.matrix();
      break;
    case Interpolate::tiled:
      counting.tiles(true);
      break;
    case Interpolate::points:
    case Interpolate::gm:
    case Interpolate::gm_sort:
      counting.direct(false);
      break;
  }
  counting.scatter();
  return counting.work();
}

double seconds_of(const Work& work, const Speeds& speeds) {
  const Counts* prices = prices_of(work.kind);
  if (!prices) return 3600;
  double out = 0;
  for (std::size_t i = 0; i < kCounts; ++i) out += work.counts[i] * (*prices)[i] / speeds[i];
  return out * 1e-12;
}

double spread_seconds(const Gridding& g, Spread family, const Parameters& with) {
  return seconds_of(spread_work(g, family, with)) / g.together;
}
double interpolate_seconds(const Gridding& g, Interpolate family, const Parameters& with) {
  return seconds_of(interpolate_work(g, family, with)) / g.together;
}

}  // namespace fourtune::generator::gpu_nufft
