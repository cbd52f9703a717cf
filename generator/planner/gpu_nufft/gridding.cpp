// The prices are picoseconds measured on an H200 (docs/design/gpu-nufft.md); only their ratios matter for a choice.
#include "generator/planner/gpu_nufft/gridding.h"

#include <algorithm>
#include <cmath>

#include "generator/planner/reference_rates.h"

namespace fourtune::generator::gpu_nufft {
namespace {

using nufft::Interpolate;
using nufft::Spread;

// Points per cell where there are any.
double density_of(const Gridding& g) { return g.points / std::max(1.0, g.cells() * g.share); }

// Share of the bins that contain a point.
double occupied(const Gridding& g, double cells_of_bin) {
  return g.share * (1 - std::exp(-density_of(g) * cells_of_bin));
}

// A subproblem is a chain that nothing overlaps: where few points leave most of the device idle, the longest one is
// what a kernel takes. 1026 points of w = 6 in 90^2 cells took 36 us in chains of 128 pairs, 2606 of w = 9 in f64 35 us
// in chains of 128 (H100).
double chain_seconds(const Gridding& g, const nufft::Parameters& with) {
  double column = g.points * with.bin[0] / (g.fine[0] * g.share);
  if (g.dim == 3) column *= with.bin[1] / g.fine[1];
  const double longest = std::min<double>(with.cap, column) / with.split;
  return longest * (g.f32() ? 0.1e-6 : 0.2e-6) / g.together;
}

// Cells that leave or enter the tiles of register windows. A window also passes the planes between its points, but it
// restarts after long gaps.
double moved_cells(const Gridding& g, const nufft::Parameters& with) {
  const double bin = with.bin[0], tile = bin + g.width - 1, planes = g.dim == 1 ? 1 : g.width;
  return g.cells() * tile / bin * occupied(g, bin * planes) / (with.run == 2 ? 1.4 : 1);
}

// Register windows in one and two dimensions: a cost per point, and a cost per finished plane of a tile.
double window_seconds(const Gridding& g, const nufft::Parameters& with, double fixed, double step, double plane_rate) {
  const double tile = with.bin[0] + g.width - 1, lanes = 32.0 * with.warps, planes = g.dim == 1 ? 1 : g.width;
  const double point = fixed + step * std::ceil(tile / lanes) * planes * with.warps;
  const double a = g.points * point * 1e-12, b = moved_cells(g, with) / plane_rate;
  return std::max(a, b) + 0.3 * std::min(a, b);
}

// Spreading in 2D whose half-warps take a point each. Tiles of 16 cells and of 32 in picoseconds per point (H100): f32,
// w = 7 and 2.3 points per cell 37 and 48, w = 3 and 10 points 19 and 26; f64, w = 6 and 3.3 points 45 and 64.
double halves_seconds(const Gridding& g, const nufft::Parameters& with) {
  const double cells = std::ceil((with.bin[0] + g.width - 1) / 16.0);  // of a lane in a row
  const double point = g.f32() ? 9 + (1.2 + cells) * g.width : 8 + 4.6 * cells * g.width;
  const bool near = g.cells() * g.complex_bytes() <= g.cache();
  const double rate = g.f32() ? (near ? 66e9 : 60e9) : (near ? 45e9 : 30e9);
  const double a = g.points * point * 1e-12, b = moved_cells(g, with) / rate;
  return std::max(a, b) + 0.8 * std::min(a, b);
}

// Matrix units in single precision: a price for each product, which takes up to `at_once` points that begin within 9 -
// w planes of a column, and one for each finished plane of a tile. The prices are counted instructions.
double products_seconds(const Gridding& g, const nufft::Parameters& with, double at_once, double plane_rate) {
  const double kProduct = at_once > 8 ? 58 : 45;  // picoseconds, by the points that it may take
  const double tile = 64, bin = 1.0 * with.bin[0] * with.bin[1], planes = std::max(1, 9 - g.width);
  const double together = std::max(1.0, density_of(g) * bin * planes);
  const double point = kProduct * at_once * std::min(1.0, 1 / at_once + 0.5 / together);
  const double moved = g.cells() * tile / bin * occupied(g, bin * g.width);
  const double a = g.points * point * 1e-12, b = moved / plane_rate;
  return std::max(a, b) + 0.3 * std::min(a, b);
}

// Padded cells of all tiles that contain a point.
double tile_cells(const Gridding& g, const nufft::Parameters& with) {
  double padded = 1, bin = 1;
  for (std::size_t d = 0; d < static_cast<std::size_t>(g.dim); ++d)
    padded *= with.bin[d] + g.width - 1, bin *= with.bin[d];
  return g.cells() * padded / bin * occupied(g, bin);
}

// Tiles that blocks load, each with its margin: from the cache, or from grids that do not fit it (16 transforms of 1.92
// million points on 180x270x270 and 256x384x384 cells, H200: 2.1 to 2.7 TB/s). Small tiles in 3D have rows of few
// sectors.
double load_seconds(const Gridding& g, const nufft::Parameters& with) {
  const bool cached = g.cells() * g.complex_bytes() * with.group <= g.cache();
  const double rate = g.dim == 3 ? (!cached ? 2.5e12 : with.group > 1 ? 5e12 : 3.5e12) : cached ? 8e12 : 4e12;
  const double slices = with.slice > 0 ? std::ceil(g.points / with.slice) : 1;
  return slices * tile_cells(g, with) * g.complex_bytes() / rate;
}

// Lines that a point alone reads, because there is no point near it, from the cache or from memory.
double alone_seconds(const Gridding& g, double share) {
  const bool cached = g.cells() * g.complex_bytes() <= g.cache();
  const double rate = g.dim == 3 ? (cached ? 18e12 : 6.5e12) : cached ? 9e12 : 4.75e12;
  return share * std::pow(g.width, g.dim - 1) * (g.width * g.complex_bytes() + 64) / rate;
}

// Values that are written in random order, for each point: the more of them, the fewer in the cache.
double scattered_seconds(const Gridding& g) { return 8e-12 * std::min(1.0, g.points * g.complex_bytes() / 8e6); }

// Several transforms at once: 128 bytes of shared memory per clock, a share of the weights, and the cells that leave a
// tile.
double group_spread_seconds(const Gridding& g, Spread family, const nufft::Parameters& with) {
  const double shared = g.complex_bytes() / reference_gpu_shared, weights = 20e-12 / with.group;
  const double near = g.cells() * g.complex_bytes() * with.group <= g.cache() ? 1 : 0.55;
  if (family == Spread::points)
    return g.points * (weights + 10e-12 + g.stencil() * g.complex_bytes() / 16 / (225e9 * near));
  return g.points * (weights + 8e-12 + (g.dim == 2 ? 3.6 : 2.6) * g.stencil() * shared) +
         tile_cells(g, with) * g.complex_bytes() / (2e12 * near);
}
double group_interpolate_seconds(const Gridding& g, Interpolate family, const nufft::Parameters& with) {
  const double shared = g.complex_bytes() / reference_gpu_shared, weights = 20e-12 / with.group;
  const double alone = g.dim == 3 ? alone_seconds(g, std::exp(-4 * density_of(g))) : 0;
  if (family == Interpolate::points)
    return g.points * (weights + 6e-12 + (g.f32() ? 1.4 : 2.1) * g.stencil() * shared + alone);
  // In 2D the scattered values of several transforms cost more than the weights that they share: 4.2 million points
  // of w = 5 take 63 ps in groups of four and 35 one by one, 0.42 million of w = 6 22 and 16 (H100).
  if (g.dim == 2)
    return g.points * (weights + 14e-12 + 1.6 * g.stencil() * shared + 2.5 * scattered_seconds(g)) +
           load_seconds(g, with);
  return g.points * (weights + 4e-12 + (g.f32() ? 1.3 : 2.0) * g.stencil() * shared) + load_seconds(g, with);
}

double interpolating_seconds(const Gridding& g, Interpolate family, const nufft::Parameters& with) {
  if (with.group > 1) return group_interpolate_seconds(g, family, with);
  const bool f32 = g.f32();
  const double stencil = g.stencil(), bytes = g.complex_bytes();
  switch (family) {
    case Interpolate::window:
      if (g.dim == 3) return nufft::window_interpolate_seconds(g.shape(), with, g.points, g.share);
      return window_seconds(g, with, 50, f32 ? 8 : 12, 100e9);
    case Interpolate::tf32x3:
      return products_seconds(g, with, 16, 400e9);
    case Interpolate::matrix: {
      double padded = 1, bin = 1;
      for (std::size_t d = 0; d < 2; ++d)
        padded *= std::ceil((with.bin[d] + g.width - 1) / 4.0) * 4, bin *= with.bin[d];
      const double planes = g.dim == 3 ? g.width : 1;
      const double batches = std::max(g.points, 16 * g.cells() / bin * occupied(g, bin * planes) / planes);
      const double product = g.dim == 3 ? (f32 ? 0.35e-12 : 0.26e-12) : f32 ? 0.14e-12 : 0.12e-12;
      return batches * (f32 ? 16 : 18) * 1e-12 + batches * product * padded * planes +
             g.cells() * padded / bin * occupied(g, bin * planes) * bytes / (g.dim == 3 ? 6e12 : 4e12);
    }
    case Interpolate::tiled: {
      const double point = g.dim == 3   ? (f32 ? 25 + 0.5 * stencil : 25 + (g.width > 8 ? 1.0 : 0.83) * stencil)
                           : g.dim == 2 ? (f32 ? 16 + 0.5 * stencil : 14 + 0.75 * stencil)
                                        : (f32 ? 18 + 1.6 * g.width : 24 + 3.5 * g.width);
      return g.points * (point * 1e-12 + (f32 && g.dim == 2 ? scattered_seconds(g) : 0)) + load_seconds(g, with);
    }
    case Interpolate::points:
    case Interpolate::gm:
    case Interpolate::gm_sort:
      break;
  }
  const double sorted = with.order == nufft::RecordOrder::caller && g.cells() * bytes > g.cache() ? 3 : 1;
  // Sparse points do not share the lines that they read. With many points, these lines are not in the cache, and every
  // slice reads the whole grid.
  const bool many = with.slice > 0 || g.points * bytes > g.cache() / 2;
  const double density = density_of(g);
  const double alone = many && g.dim == 2 && f32 && density > 0.3 ? 0 : alone_seconds(g, std::exp(-4 * density));
  const double again = with.slice > 0 ? g.cells() * bytes / (g.cells() * bytes <= g.cache() ? 8e12 : 3e12) : 0;
  const double point = g.dim == 3   ? (!f32           ? 1.7 * stencil
                                       : g.width <= 4 ? 20 + 1.2 * stencil
                                                      : 0.75 * stencil)
                       : g.dim == 2 ? (f32 ? (many ? 28 + 0.3 * stencil : 13 + 0.2 * stencil) : 8 + 0.65 * stencil)
                                    : (f32 ? 12 + 1.6 * g.width : 20 + 3.5 * g.width);
  const double scattered = f32 && g.dim == 2 && !many ? scattered_seconds(g) : 0;
  return g.points * (sorted * point * 1e-12 + scattered + alone) +
         again * std::ceil(g.points / std::max(1, with.slice));
}

double spreading_seconds(const Gridding& g, Spread family, const nufft::Parameters& with) {
  if (with.group > 1) return group_spread_seconds(g, family, with);
  const bool f32 = g.f32();
  const double w = g.width, stencil = g.stencil();
  const double near =
      g.cells() * g.complex_bytes() <= g.cache() ? 1 : 0.55;  // reductions inside the cache, or beyond it
  switch (family) {
    case Spread::window:
      if (g.dim == 3) return nufft::window_spread_seconds(g.shape(), with, g.points, g.share);
      if (g.dim == 2 && with.split == 2) return halves_seconds(g, with);
      return window_seconds(g, with, 40, f32 ? 5 : 8, (f32 ? 60e9 : 30e9) * near);
    case Spread::tf32x3:
      return products_seconds(g, with, 8, 225e9 * near);
    case Spread::tile_owned: {
      const double point = g.dim == 3   ? (f32 ? 1.5 : 3.0) * stencil
                           : g.dim == 2 ? (f32 ? 10 + 1.75 * stencil : 20 + 2.1 * stencil)
                                        : (f32 ? 14 : 20) + (f32 ? 2.5 : 7) * w;
      const double cell = (f32 ? 6 : 12) * (g.dim == 2 ? 2 : 1);
      return (g.points * point + g.cells() * cell * occupied(g, 64)) * 1e-12;
    }
    case Spread::tile_atomic:
    case Spread::sm:
      return (g.points * (f32 ? 6 : 8) * stencil + g.cells() * (f32 ? 6 : 12)) * 1e-12;
    case Spread::points:
    case Spread::gm:
    case Spread::gm_sort:
      break;
  }
  const double sorted = with.order == nufft::RecordOrder::caller ? (near < 1 ? 5 : 1.5) : 1;
  const double lanes = with.lanes == 1 ? 2 : 1;
  const double rate = f32 ? 225e9 : g.dim == 1 ? 60e9 : 150e9;
  return g.points * (20e-12 + sorted * lanes * stencil / (rate * near));
}

}  // namespace

double spread_seconds(const Gridding& g, Spread family, const nufft::Parameters& with) {
  const bool chains = with.order == nufft::RecordOrder::slide && nufft::by_subproblems(family);
  return std::max(spreading_seconds(g, family, with), chains ? chain_seconds(g, with) : 0);
}

// Values larger than the cache are written in random order, whatever the kernel does before.
double interpolate_seconds(const Gridding& g, Interpolate family, const nufft::Parameters& with) {
  const bool beyond = g.points * g.complex_bytes() > g.cache() && with.slice == 0;
  const double scattered = beyond ? g.points * (g.f32() ? 57e-12 : 63e-12) : 0;
  const bool chains = with.order == nufft::RecordOrder::slide && nufft::by_subproblems(family);
  return std::max({interpolating_seconds(g, family, with), scattered, chains ? chain_seconds(g, with) : 0});
}

}  // namespace fourtune::generator::gpu_nufft
