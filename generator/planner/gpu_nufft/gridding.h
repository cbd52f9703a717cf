// What the kernels of a nonuniform plan do on a GPU, counted, and what that costs: the part of the cost model
// (cost.cpp) that also chooses among families and tiles (choices.cpp). gridding.cpp counts, prices.cpp has a price for
// each count.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "generator/codegen/nufft/kernels.h"

namespace fourtune::generator::gpu_nufft {

// One spreading or interpolation kernel.
struct Gridding {
  int dim = 3, width = 6;
  Precision precision = Precision::f32;
  std::array<double, 3> fine{1, 1, 1};
  double points = 0;
  double share = 1;  // share of the grid that has points
  std::int64_t l2_bytes = h200::l2_bytes;
  double together = 1;  // transforms of a launch
  double cells() const { return fine[0] * fine[1] * fine[2]; }
  double stencil() const { return std::pow(width, dim); }
  double complex_bytes() const { return 2.0 * static_cast<double>(real_bytes(precision)); }
  bool f32() const { return precision == Precision::f32; }
  // Bytes of the largest grid that stays in the L2 cache: 48 MB in that of an H200.
  double cache() const { return nufft::cached(48e6, l2_bytes); }
  nufft::Shape shape() const {
    nufft::Shape out;
    out.dim = dim, out.precision = precision, out.width = width, out.l2_bytes = l2_bytes;
    for (std::size_t d = 0; d < 3; ++d) out.fine[d] = static_cast<std::int64_t>(fine[d]);
    return out;
  }
};

inline Gridding gridding_of(const nufft::Shape& shape, double points, double share = 1) {
  Gridding out{shape.dim, shape.width, shape.precision, {}, points, share, shape.l2_bytes, 1};
  for (std::size_t d = 0; d < 3; ++d) out.fine[d] = static_cast<double>(shape.fine[d]);
  return out;
}

// What is counted of a launch. Every kernel has its own price for each, so that a count need not mean the same in all.
enum class Count {
  launch,      // 1, or the launches of several kernels
  point,       // points, of all transforms of the launch
  cell,        // points times the cells that each of them touches, or that its lanes keep
  warp,        // points times the warps that share them; far from the cache: cells of points
  product,     // products of matrix units
  moved,       // cells or bytes that enter or leave tiles or pass through memory, in the second-level cache
  moved_far,   // ... and beyond it
  odd,         // the same of FFTs whose lengths are not powers of two
  odd_far,     //
  lines,       // of FFTs, bytes of lines that need two kernels; of spreading, subproblems that add to the same cell
  task,        // subproblems, or what they begin and end with
  chain,       // the longest chain of points that nothing overlaps
  chain_cell,  // the same times what one of them takes
  single,      // steps of one point or tile alone
  alone,       // bytes that points without neighbours read by themselves
  alone_far,
  scattered,  // values in random order
  again       // bytes of grids that slices read again
};
inline constexpr std::size_t kCounts = 18;
inline constexpr std::string_view count_names[kCounts] = {
    "launch", "point", "cell",  "warp",       "product", "moved", "moved_far", "odd",       "odd_far",
    "lines",  "task",  "chain", "chain_cell", "single",  "alone", "alone_far", "scattered", "again"};
using Counts = std::array<double, kCounts>;

enum class Stage { spread, interpolate, clear, fft, library, values };  // library: the device's FFT

// A kind of kernel, which has prices.
struct KernelKind {
  Stage stage = Stage::spread;
  int family = 0;  // nufft::Spread or nufft::Interpolate, else 0
  int dim = 1;
  bool groups = false;
  Precision precision = Precision::f32;
  friend bool operator==(const KernelKind&, const KernelKind&) = default;
};

// The work of a kernel, or of all kernels of an FFT, of one launch.
struct Work {
  KernelKind kind;
  Counts counts{};
};
Work spread_work(const Gridding& g, nufft::Spread family, const nufft::Parameters& with);
Work interpolate_work(const Gridding& g, nufft::Interpolate family, const nufft::Parameters& with);

// The prices of a kind, in picoseconds on an H100; none: nothing was fitted to it.
const Counts* prices_of(const KernelKind& kind);
// Whether enough was measured of the kind for a default to rely on it.
bool is_known(const KernelKind& kind);
// How much faster than an H100 a device is, for each count.
using Speeds = Counts;
inline Speeds same_speed() {
  Speeds out;
  out.fill(1);
  return out;
}
// Seconds that the work takes. Kinds without prices take an hour, so that nothing chooses them.
double seconds_of(const Work& work, const Speeds& speeds = same_speed());

// Seconds on an H100 for one transform of a launch.
double spread_seconds(const Gridding& g, nufft::Spread family, const nufft::Parameters& with);
double interpolate_seconds(const Gridding& g, nufft::Interpolate family, const nufft::Parameters& with);

}  // namespace fourtune::generator::gpu_nufft
