// Nonuniform points and a fine grid: sort once, then spread (points -> grid) and interpolate (grid -> points).
//
// Invariants
// 1. Grid cell (i, j, k) is at i + j*stride[1] + k*stride[2] complex elements; FFT order: position 0 is index 0.
// 2. Coordinate x maps to the period coordinate p = (x - centre) * factor (one period = the whole grid); cell position
//    u = (p - floor(p)) * fine, located without losing digits: f32 coordinates are exact numbers and are located in
//    f64, f64 ones with an error-free product (docs/design/accuracy.md).
// 3. Weights are those of generator::Window (see window.h), the same for spread and interpolate, which are exact
//    adjoints.
#pragma once

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>

#include "generator/plan/plan.h"

namespace fourtune::runtime::cpu {

// The part of a dimension that one of several processes stores: whole tiles, in `count` layers. Layer i has the cells
// first + i * cells .. of the dimension, up to first + i * cells + cells - 1, and behind them the width - 1 cells that
// its windows share with the layer that follows in the whole grid; the last layer may have fewer cells. Each layer
// begins `stored` cells after the one before it. Spreading leaves the shared cells' sums behind their layer, and
// interpolation expects them there; the caller adds and copies them.
struct GridLayers {
  std::int64_t count = 0;  // 0: the whole dimension is stored, and its windows wrap around
  std::int64_t first = 0;  // a multiple of the tile, as is `cells`
  std::int64_t cells = 0;  // of a layer, at least width - 1
  std::int64_t stored = 0;
  std::int64_t last_cells = 0;  // of the last layer
  std::int64_t last_place() const { return (count - 1) * stored + last_cells + stored - cells - 1; }
};

struct GridShape {
  int dim = 1;
  std::array<std::int64_t, 3> fine{1, 1, 1};
  std::array<std::int64_t, 3> stride{1, 0, 0};  // in elements; stride[0] == 1; rows may be padded
  std::int64_t elements = 0;                    // of one grid including its padding
  std::array<GridLayers, 3> layers;             // of y and z; rows along x are whole
  // Cells that are stored behind the grid along each dimension, where windows go that would wrap around: at least width
  // - 1, or none. Spreading adds them to the cells that they stand for, and interpolation copies those.
  std::array<std::int64_t, 3> halo{0, 0, 0};
};

// p = (x - centre) * factor; for types 1 and 2, centre is 0 and factor is 1/(2 pi). The *_low members hold the rounding
// errors of both in double precision: over a grid of many cells these amount to a fraction of a cell (that of 1/(2 pi)
// is known).
struct PointMap {
  std::array<double, 3> centre{0, 0, 0};
  std::array<double, 3> factor{};
  std::array<double, 3> centre_low{}, factor_low{};
};

struct GridderSpec {
  GridShape grid;
  generator::WindowChoice window;
  double beta = 0;  // window shape; 0 means the rule of generator::Window
  generator::SortChoice sort;
  generator::SpreadChoice spread;
  generator::InterpChoice interp;
  int threads = 1;
  bool deterministic = false;
  bool mostly_spreads = false;  // type 1: few points are not ordered inside tiles, which is for interpolation
  bool pairs = false;           // 2D: wide windows are spread two points at a time, for which points are ordered
  bool trust_points = false;
  bool exact_points = false;
  double accuracy = 0;  // relative accuracy of window evaluation; 0 means from the width
  // Points per private tile, even if spread.cap is larger (generator/plan/summation.h).
  std::int64_t longest_sum = std::numeric_limits<std::int64_t>::max();
};

// T is float or double.
template <class T>
class Gridder {
 public:
  virtual ~Gridder() = default;
  // Locates and sorts m points; y and z are null beyond dim. The arrays may be freed afterwards. Throws
  // Error{invalid_point} that names the first index that is NaN or infinite, and its dimension, and Error{internal} for
  // a point whose tile is not in the layers of the grid. Meanwhile it may overwrite the `lent` memory, which begins at
  // a cache line: grids, which nobody needs until points are set. With as much as the located points take, it is
  // faster.
  virtual void set_points(std::int64_t m, const T* x, const T* y, const T* z, const PointMap& map,
                          std::span<std::byte> lent = {}) = 0;

  // Stores the grid elsewhere: other strides and layers of the same fine grid. Points have to be set again. Throws as
  // make_gridder does.
  virtual void set_grid(const GridShape& grid) = 0;
  // tile[j] is the tile in which set_points puts point j: of `tile_counts` tiles along each dimension, x fastest.
  // Throws as set_points does.
  virtual void tiles_of(std::int64_t m, const T* x, const T* y, const T* z, const PointMap& map,
                        std::int32_t* tile) const = 0;
  virtual std::array<std::int64_t, 3> tile_counts() const = 0;

  // grid_b = sum_j values_b[j] * factor[j] * window_j for b < count. Grids are zeroed first. factor may be null.
  virtual void spread(const std::complex<T>* values, std::int64_t value_distance, const std::complex<T>* factor,
                      std::complex<T>* grids, std::int64_t grid_distance, std::int64_t count) = 0;
  // values_b[j] = factor[j] * sum_cells window_j * grid_b.
  virtual void interpolate(const std::complex<T>* grids, std::int64_t grid_distance, const std::complex<T>* factor,
                           std::complex<T>* values, std::int64_t value_distance, std::int64_t count) = 0;
  virtual std::int64_t bytes() const = 0;
  // At most what calls for `count` transforms of `m` points take beyond bytes() and the points, before any were set.
  virtual std::int64_t more_bytes(std::int64_t m, std::int64_t count) const = 0;
};

// Throws Error{unsupported} for a combination that no family covers (a width or a tile out of range, ...). Where points
// are not grouped (sort none, colour_list), families that need groups are replaced: subgrid by atomic, tile by direct;
// a deterministic atomic spread runs on one thread. On grids smaller than the window, the window wraps around several
// times.
template <class T>
std::unique_ptr<Gridder<T>> make_gridder(const GridderSpec& spec);
// Whether this processor stores vectors so slowly that GridderSpec::pairs pays: AMD's do (docs/design/cpu-choices.md).
bool pairs_pay();

// Pads rows so that strides avoid powers of two, and computes the grid's element count (checked). With a halo, rows are
// whole cache lines.
GridShape padded_shape(int dim, const std::array<std::int64_t, 3>& fine, std::int64_t element_bytes,
                       const std::array<std::int64_t, 3>& halo = {0, 0, 0});
// A padded shape with a halo for windows of this width.
GridShape halo_shape(int dim, const std::array<std::int64_t, 3>& fine, int width, std::int64_t element_bytes);
// The name of the instruction set of this process's kernels: "avx512", "avx2" or "portable".
const char* kernel_isa();

}  // namespace fourtune::runtime::cpu
