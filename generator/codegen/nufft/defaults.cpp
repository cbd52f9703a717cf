// Initial parameters by width, precision and density, from measurements on an H200: docs/design/gpu-nufft.md.
#include <algorithm>

#include "generator/codegen/nufft/kernels.h"
#include "generator/plan/nufft/blocks.h"

namespace fourtune::generator::nufft {
namespace {

constexpr double kLowDensity = 0.3, kVeryLowDensity = 0.03;  // points per cell
// With fewer points than this on an H200, fewer launches sort faster.
constexpr double kManyPoints = 3e5;
constexpr double kHeldPoints = 1 << 21;  // the f32 values of this many points, 16 MB, stay in the L2 cache of an H200

int lanes_for(int width) { return width <= 4 ? 4 : width <= 8 ? 8 : 16; }

double points_of(const Shape& shape, double density) {
  return density * static_cast<double>(shape.fine[0]) * static_cast<double>(shape.fine[1] * shape.fine[2]);
}

// Few points: makes subproblems so small that they fill the device (an H200 by about 2000 warps), but gives each warp
// at least 32 points. A long subproblem is a sequential chain that nothing overlaps: 16 384 clustered points on 112 x
// 112 cells took 29 us in subproblems of 512 points, and 9 us in subproblems of 64 (H200).
void fill_device(const Shape& shape, double density, Parameters& p) {
  const bool narrow = shape.dim == 2 && shape.width <= 4;  // has fewer cells to add to the grid
  const double warps = shape.filling(narrow ? 4096 : 2048);
  const double fair = points_of(shape, density) / warps * p.warps;
  int cap = 32 * p.warps;
  while (cap < fair) cap *= 2;
  p.cap = std::min(p.cap, cap);
}

Placement placement_for(const Shape& shape, double density) {
  if (points_of(shape, density) >= shape.filling(kManyPoints)) return Placement::two_level;
  return Placement::scatter;
}

// Tiles of the matrix units: a multiple of 4 cells per side, with room for some cells of points. `unroll`: half the
// number of planes beyond the window's that a block of warps keeps.
void set_matrix(const Shape& shape, Parameters& p) {
  const int w = shape.width;
  if (shape.dim == 2) {
    const int side = w <= 3 ? 8 : w <= 7 ? 12 : w <= 11 ? 16 : 20;
    p.bin = {side - w + 1, side - w + 1, 1};
    p.cap = 256;
    return;
  }
  const int side = w <= 6 ? 8 : w <= 10 ? 12 : 16;
  p.order = RecordOrder::slide;
  p.bin = {side - w + 1, side - w + 1, 1};
  p.cap = 1024;
  p.warps = 2;
  p.unroll = 3;
}

// Whether there are too few points to keep all multiprocessors busy with long subproblems.
bool few_points(const Shape& shape, double density) { return points_of(shape, density) < shape.filling(kFewPoints); }

// Values that exceed the cache are written slice by slice, unless a slice would have too few points per cell.
void set_slice(const Shape& shape, Interpolate family, double density, Parameters& p) {
  const bool f32 = shape.precision == Precision::f32;
  const double cells = static_cast<double>(shape.fine[0] * shape.fine[1]),
               held = shape.cached(f32 ? kHeldPoints : kHeldPoints / 2);
  if (shape.dim != 2 || points_of(shape, density) < 1.999 * held) return;  // about 2; the density is rounded
  if (!f32 && (family == Interpolate::matrix ? cells > held : shape.width > 4)) return;
  p.slice = static_cast<int>(std::min(std::max(held, cells / 4), 1e9));
}

// Two dimensions: half-warps process a point each. Tiles of 16 cells leave fewer lanes idle, tiles of 32 finish fewer
// rows.
void set_window_2d(const Shape& shape, double density, bool spreads, Parameters& p) {
  const int w = shape.width;
  const bool narrow = spreads && w <= 13 && density >= 1 && (shape.precision == Precision::f64 ? w > 6 : density > 3);
  p.cap = density < 1 ? 64 : 256;
  p.split = spreads ? 2 : 1;
  p.unroll = spreads && !narrow ? 1 : 2;
  p.bin = {(narrow ? 16 : 32) - w + 1, 1, 1};
  p.fold = spreads && shape.precision == Precision::f64 && w <= 8;
}

// At low densities the finished planes dominate the cost, so tiles are wide.
void set_sparse_window_3d(const Shape& shape, double density, Parameters& p) {
  const int w = shape.width;
  const bool f32 = shape.precision == Precision::f32;
  const int side = w <= 3 ? 8 : w <= 8 ? 16 : 20;
  p.bin = {side - w + 1, side - w + 1, 1};
  p.warps = w <= 3 ? 1 : f32 && w <= 8 ? 2 : 4;
  if (f32 && w > 3 && w <= 7 && density >= kVeryLowDensity) {
    p.bin[1] = 9 - w;
    p.warps = 1;
  }
  p.fold = w == 8 && density >= kVeryLowDensity;
  p.cap = f32 ? 256 : 512;
  if (f32 && shape.fine[0] % 2 == 0) {
    p.bin[0] = std::max(2, p.bin[0] / 2 * 2);
    p.run = 2;
  }
}

// Register windows. Small bins are fastest at density 1, because lanes that a point's window does not reach are idle.
void set_window(const Shape& shape, double density, bool spreads, Parameters& p) {
  const int w = shape.width;
  p.order = RecordOrder::slide;
  p.lanes = lanes_for(w);
  if (shape.dim == 1) {
    p.bin = {std::max(1, 128 - w + 1), 1, 1};
    return;
  }
  if (shape.dim == 2) return set_window_2d(shape, density, spreads, p);
  const int side = w <= 7 ? 8 : 16;
  p.cap = 512;
  if (spreads && density < kLowDensity && w <= 10) return set_sparse_window_3d(shape, density, p);
  // Subproblems of 512 points, compared with 256: interpolation 619 and 587 us, spreading 467 and 450 us (6.8 M radial
  // points, H200); spreading at density 1 does not depend on it.
  if (shape.precision == Precision::f32 && density >= kVeryLowDensity && (!spreads || density < 1)) p.cap = 256;
  p.bin = {side - w + 1, side - w + 1, 1};
  if (w == 8) {  // 10 x 9 cells: three per lane
    p.bin = {3, 2, 1};
    p.fold = spreads && shape.precision == Precision::f32;
    p.unroll = p.fold ? 2 : 1;
    return;
  }
  // Registers: a cell needs 2 w numbers; a lane should use at most about 128 registers for sums.
  const int budget = 128 / (2 * w * (shape.precision == Precision::f32 ? 1 : 2));
  while (p.warps < 16 && (side * side + 32 * p.warps - 1) / (32 * p.warps) > (budget > 1 ? budget : 1)) p.warps *= 2;
}

// The largest bins: all of a tile's products are computed, whether a window reaches them or not.
void set_tf32(const Shape& shape, double density, Parameters& p) {
  const int side = std::max(1, kTf32Cells + 1 - shape.width);
  p.order = RecordOrder::slide;
  p.bin = {side, side, 1};
  p.cap = density < 1 ? 256 : 512;
  p.lanes = lanes_for(shape.width);
}

// Bins and subproblems of the paper on cuFINUFFT, Remark 1.
Parameters published_parameters(const Shape& shape, bool sorted) {
  Parameters p;
  p.order = sorted ? RecordOrder::bins : RecordOrder::caller;
  p.placement = Placement::index;
  p.bin = !sorted ? std::array{1, 1, 1} : shape.dim == 3 ? std::array{16, 16, 2} : std::array{32, 32, 1};
  p.cap = 1024;
  p.lanes = 1;
  p.warps = kPublishedWarps;
  return p;
}

// Parameters for a device that is full.
Parameters plain_parameters(const Shape& shape, Spread family, double density) {
  Parameters p;
  const int w = shape.width;
  const bool f32 = shape.precision == Precision::f32;
  p.placement = placement_for(shape, density);
  p.lanes = lanes_for(w);
  p.order = RecordOrder::bins;
  p.bin = shape.dim == 3 ? std::array{8, 8, 8} : shape.dim == 2 ? std::array{16, 16, 1} : std::array{256, 1, 1};
  switch (family) {
    case Spread::points:
      break;
    case Spread::tile_atomic:
      p.warps = 8;
      if (shape.dim == 3 && !f32 && w > 10) p.bin = {4, 4, 4};
      break;
    case Spread::tile_owned:
      p.cap = 512;
      if (shape.dim == 3) p.bin = w <= 8 ? std::array{4, 4, 4} : std::array{3, 3, 2};
      if (shape.dim == 2 && density >= kLowDensity) p.bin = {8, 8, 1};
      break;
    case Spread::window:
      set_window(shape, density, true, p);
      break;
    case Spread::tf32x3:
      set_tf32(shape, density, p);
      break;
    case Spread::gm:
    case Spread::gm_sort:
    case Spread::sm:
      return published_parameters(shape, family != Spread::gm);
  }
  return p;
}

Parameters plain_parameters(const Shape& shape, Interpolate family, double density) {
  Parameters p;
  p.placement = placement_for(shape, density);
  if (family == Interpolate::window) {
    set_window(shape, density, false, p);
    return p;
  }
  if (family == Interpolate::tf32x3) {
    set_tf32(shape, density, p);
    return p;
  }
  p.order = RecordOrder::bins;
  p.lanes = lanes_for(shape.width);
  p.warps = 4;
  if (family == Interpolate::matrix) {
    set_matrix(shape, p);
    set_slice(shape, family, density, p);
    return p;
  }
  p.bin = shape.dim == 3 ? std::array{8, 8, 8} : shape.dim == 2 ? std::array{16, 16, 1} : std::array{256, 1, 1};
  if (family == Interpolate::tiled && shape.dim == 3 && shape.precision == Precision::f64 && shape.width > 10)
    p.bin = {4, 4, 4};
  if (family == Interpolate::tiled && shape.dim == 3 && few_points(shape, density)) p.bin = {4, 4, 4}, p.cap = 128;
  if (shape.dim < 3) p.lanes = 1;
  if (family == Interpolate::points) {
    // Points of one row of cells read whole lines: their order matters more than any tile.
    if (shape.dim == 2 && density >= kLowDensity) p.bin = {shape.precision == Precision::f32 ? 8 : 4, 1, 1};
    if (shape.dim == 1) p.bin = {64, 1, 1};
    if (shape.dim == 3 && shape.precision == Precision::f32 && density < kVeryLowDensity && !few_points(shape, density))
      p.lanes = 1;
    if (shape.dim == 2 && shape.precision == Precision::f64 && density < kLowDensity) p.lanes = 4;
  }
  if (shape.width > kMaxWidth) p.lanes = 16;
  set_slice(shape, family, density, p);
  return p;
}

}  // namespace

Parameters default_parameters(const Shape& shape, Spread family) { return default_parameters(shape, family, 1); }
Parameters default_parameters(const Shape& shape, Interpolate family) { return default_parameters(shape, family, 1); }

Parameters default_parameters(const Shape& shape, Spread family, double density) {
  Parameters p = plain_parameters(shape, family, density);
  if (!is_published(family)) fill_device(shape, density, p);
  return p;
}
std::vector<Parameters> window_tiles(const Shape& shape, double points_per_cell, double share) {
  std::vector<Parameters> out;
  const double density = points_per_cell / share;
  const auto add = [&](Parameters p) {
    p.placement = placement_for(shape, points_per_cell);
    fill_device(shape, points_per_cell, p);
    out.push_back(p);
  };
  const int w = shape.width;
  const bool f64 = shape.precision == Precision::f64;
  if (density < 0.5 && w <= 10) {
    add(plain_parameters(shape, Spread::window, std::min(density, 0.99 * kLowDensity)));
    if (density < kVeryLowDensity) return out;
  }
  Parameters dense = plain_parameters(shape, Spread::window, std::max(density, kLowDensity));
  if (f64 && (w == 9 || w == 10)) {  // two warps with two cells per lane
    dense.bin = w == 9 ? std::array{3, 3, 1} : std::array{2, 2, 1};
    dense.warps = 2, dense.unroll = 1;
  }
  add(dense);
  if (f64 && w >= 8 && w <= 11 && (w >= 10 || density < 1)) {  // 16 x 12 cells: three per lane of two warps
    dense.bin = {17 - w, 13 - w, 1};
    dense.warps = 2, dense.unroll = 1, dense.cap = 512;
    dense.fold = w == 8;
    add(dense);
  }
  return out;
}
Parameters default_parameters(const Shape& shape, Interpolate family, double density) {
  if (is_published(family)) return published_parameters(shape, family != Interpolate::gm);
  Parameters p = plain_parameters(shape, family, density);
  fill_device(shape, density, p);
  return p;
}

}  // namespace fourtune::generator::nufft
