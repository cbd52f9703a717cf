// The prices are picoseconds measured on an H200 (docs/design/gpu-nufft.md); only their ratios matter for a choice.
#include "generator/planner/gpu_nufft/gridding.h"

#include <algorithm>
#include <cmath>

#include "generator/planner/reference_rates.h"

namespace fourtune::generator::gpu_nufft {
namespace {

using nufft::Interpolate;
using nufft::Spread;

// Share of the bins that contain a point.
double occupied(const Gridding& g, double cells_of_bin) {
  return 1 - std::exp(-g.points * cells_of_bin / std::max(1.0, g.cells()));
}

// Register windows: a cost per point, and a cost per finished plane of a tile.
double window_seconds(const Gridding& g, const nufft::Parameters& with, double fixed, double step, double plane_rate) {
  double tile = with.bin[0] + g.width - 1, bin = with.bin[0];
  if (g.dim == 3) tile *= with.bin[1] + g.width - 1, bin *= with.bin[1];
  const double lanes = 32.0 * with.warps, planes = g.dim == 1 ? 1 : g.width;
  const double point = fixed + step * std::ceil(tile / lanes) * planes * with.warps;
  // A window also finishes the planes between its points, but it restarts after long gaps.
  const double moved = g.cells() * tile / bin * occupied(g, bin * planes) / (with.run == 2 ? 1.4 : 1);
  const double a = g.points * point * 1e-12, b = moved / plane_rate;
  return std::max(a, b) + 0.3 * std::min(a, b);
}

// Matrix units in single precision: a price for each product, which takes up to `at_once` points that begin within 9 -
// w planes of a column, and one for each finished plane of a tile. The prices are counted instructions.
double products_seconds(const Gridding& g, const nufft::Parameters& with, double at_once, double plane_rate) {
  constexpr double kProduct = 45;  // picoseconds, by the points that it may take
  const double tile = 64, bin = 1.0 * with.bin[0] * with.bin[1], planes = std::max(1, 9 - g.width);
  const double together = std::max(1.0, g.points / (g.cells() * g.share) * bin * planes);
  const double point = kProduct * at_once * std::min(1.0, 1 / at_once + 0.5 / together);
  const double moved = g.cells() * g.share * tile / bin * occupied(g, bin * g.width / g.share);
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
// million points on 180x270x270 and 256x384x384 cells, H200: 2.1 to 2.7 TB/s).
double load_seconds(const Gridding& g, const nufft::Parameters& with) {
  const bool cached = g.cells() * g.complex_bytes() * with.group <= g.cache();
  return tile_cells(g, with) * g.complex_bytes() / (cached ? 8e12 : 2.5e12);
}

// Several transforms at once: 128 bytes of shared memory per clock, a share of the weights, and the cells that leave a
// tile.
double group_spread_seconds(const Gridding& g, Spread family, const nufft::Parameters& with) {
  const double shared = g.complex_bytes() / reference_gpu_shared, weights = 20e-12 / with.group;
  const double near = g.cells() * g.complex_bytes() * with.group <= g.cache() ? 1 : 0.55;
  if (family == Spread::points)
    return g.points * (weights + 10e-12 + g.stencil() * g.complex_bytes() / 16 / (225e9 * near));
  return g.points * (weights + 8e-12 + 2.6 * g.stencil() * shared) +
         tile_cells(g, with) * g.complex_bytes() / (2e12 * near);
}
double group_interpolate_seconds(const Gridding& g, Interpolate family, const nufft::Parameters& with) {
  const double shared = g.complex_bytes() / reference_gpu_shared, weights = 20e-12 / with.group;
  if (family == Interpolate::points) return g.points * (weights + 6e-12 + 2.5 * g.stencil() * shared);
  return g.points * (weights + 4e-12 + 1.3 * g.stencil() * shared) + load_seconds(g, with);
}

double interpolating_seconds(const Gridding& g, Interpolate family, const nufft::Parameters& with) {
  if (with.group > 1) return group_interpolate_seconds(g, family, with);
  const bool f32 = g.f32();
  const double stencil = g.stencil(), bytes = g.complex_bytes();
  switch (family) {
    case Interpolate::window:
      if (g.dim == 3) return nufft::window_interpolate_seconds(g.shape(), with, g.points);
      return window_seconds(g, with, 50, f32 ? 8 : 12, 100e9);
    case Interpolate::tf32x3:
      return products_seconds(g, with, 16, 400e9);
    case Interpolate::matrix: {
      double padded = 1, bin = 1;
      for (std::size_t d = 0; d < 2; ++d)
        padded *= std::ceil((with.bin[d] + g.width - 1) / 4.0) * 4, bin *= with.bin[d];
      const double planes = g.dim == 3 ? g.width : 1;
      const double batches = std::max(g.points, 16 * g.cells() / bin * occupied(g, bin * planes) / planes);
      return batches * (f32 ? 16 : 18) * 1e-12 + batches * (f32 ? 0.14e-12 : 0.12e-12) * padded * planes +
             g.cells() * padded / bin * occupied(g, bin * planes) * bytes / 6e12;
    }
    case Interpolate::tiled: {
      const double point = g.dim == 3   ? (f32 ? 25 + 0.65 * stencil : 35 + 1.2 * stencil)
                           : g.dim == 2 ? (f32 ? 12 + 0.78 * stencil : 25 + 1.1 * stencil)
                                        : (f32 ? 32 : 60);
      return g.points * point * 1e-12 + load_seconds(g, with);
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
  const double rows = std::pow(g.width, g.dim - 1);
  const double density = g.points / std::max(1.0, g.cells());
  const double alone = many && g.dim == 2 && f32 && density > 0.3 ? 0 : std::exp(-4 * density);
  const double again = with.slice > 0 ? g.cells() * bytes / (g.cells() * bytes <= g.cache() ? 8e12 : 3e12) : 0;
  const double point = g.dim == 3   ? (f32 ? 1.0 : 1.6) * stencil
                       : g.dim == 2 ? (f32 ? (many ? 28 + 0.3 * stencil : 14 + 0.45 * stencil) : 25 + 1.2 * stencil)
                                    : (f32 ? 27 : 50);
  return g.points * (sorted * point * 1e-12 + alone * rows * (g.width * bytes + 64) / 3e12) +
         again * std::ceil(g.points / std::max(1, with.slice));
}

}  // namespace

double spread_seconds(const Gridding& g, Spread family, const nufft::Parameters& with) {
  if (with.group > 1) return group_spread_seconds(g, family, with);
  const bool f32 = g.f32();
  const double w = g.width, stencil = g.stencil();
  const double near =
      g.cells() * g.complex_bytes() <= g.cache() ? 1 : 0.55;  // reductions inside the cache, or beyond it
  switch (family) {
    case Spread::window:
      if (g.dim == 3) return nufft::window_spread_seconds(g.shape(), with, g.points, g.share);
      return window_seconds(g, with, 40, f32 ? 5 : 8, (f32 ? 60e9 : 30e9) * near);
    case Spread::tf32x3:
      return products_seconds(g, with, 8, 225e9 * near);
    case Spread::tile_owned: {
      const double point = g.dim == 3   ? (f32 ? 1.5 : 3.0) * stencil
                           : g.dim == 2 ? 20 + (f32 ? 2.0 : 3.0) * stencil
                                        : (f32 ? 14 : 20) + (f32 ? 2.5 : 7) * w;
      return (g.points * point + g.cells() * (f32 ? 6 : 12) * occupied(g, 64)) * 1e-12;
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
  return g.points * (20e-12 + sorted * lanes * stencil / ((f32 ? 225e9 : 150e9) * near));
}

// Values larger than the cache are written in random order, whatever the kernel does before.
double interpolate_seconds(const Gridding& g, Interpolate family, const nufft::Parameters& with) {
  const bool beyond = g.points * g.complex_bytes() > g.cache() && with.slice == 0;
  return std::max(interpolating_seconds(g, family, with), beyond ? g.points * (g.f32() ? 57e-12 : 63e-12) : 0.0);
}

}  // namespace fourtune::generator::gpu_nufft
