// The inner loops of the gridder, selected once per process for the instruction set (by Highway's dispatch).
// select.cpp selects them; they are in locate.cpp, rows.cpp, portable.cpp, *_f32.cpp and *_f64.cpp.
// `values` are complex<T>, contiguous pairs of T. All pointers to private tiles and block rows are 64-byte aligned.
#pragma once

#include <array>
#include <complex>
#include <cstdint>

#include "runtime/backends/cpu/gridder/layout.h"
#include "runtime/backends/cpu/gridder/record.h"
#include "runtime/backends/cpu/gridder/weights.h"

namespace fourtune::runtime::cpu {

// The period coordinate along one dimension, p = (x - centre - centre_low) * (factor + factor_low), and the grid to
// which it is mapped.
struct PeriodAxis {
  double centre = 0, factor = 0, factor_low = 0;
  std::int32_t fine = 1;
  int width = 2;
  double centre_low = 0;
};
// How points are located. In fixed point, x * scale + shift is an integer q, the position in cells times 2^bits, plus
// or minus the whole grid; its high bits are i0, its low ones 1 - f. That is exact enough for the record's positions
// where tiles are powers of two (or one tile holds the whole dimension) and the integers are long enough.
enum class Arithmetic {
  int32,  // 32-bit integers, twice as many at a time; they are truncated and not rounded, as records are
  int64,  // the integers in a sum of f64
  deep,   // f64 only: kDeepBits more. q is 2^kDeepBits times the integer, plus the rest of the product and deep_shift
  exact,  // error-free products
};
// Directly for points within a period of zero, through p - round(p) for those up to kNearPeriods away.
struct FixedAxis {
  double scale = 0, scale_low = 0, folded_scale = 0, shift = 0;
  std::int64_t deep_shift = 0;
  int bits = 0, tile_bits = 0;  // i0 >> tile_bits is the tile
};
inline constexpr int kDeepBits = 8;
// The order inside tiles, expressed as more sort keys: bins of `bin` cells along x, and within them groups of
// 2^plane_bits planes, in 2D of rows.
struct InnerOrder {
  int bin = 1, bins = 1, groups = 1, plane_bits = 0;
  int keys() const { return bins * groups; }
  std::int64_t key(std::int64_t tile, int x, std::int64_t cell) const {
    return (tile * bins + x) * groups + (groups > 1 ? cell >> plane_bits : 0);
  }
};
// The grid as the locate kernels see it.
struct Frame {
  Tiling tiling;
  InnerOrder inner;
  std::array<PeriodAxis, 3> axes{};
  std::array<FixedAxis, 3> fixed_axes{};
  std::array<double, 3> inverse_tile{};
  Arithmetic arithmetic = Arithmetic::exact;
};
inline constexpr double kNearPeriods32 = 0x1p20, kNearPeriods64 = 2;
inline constexpr double kIntegers = 0x1.8p52;  // adding it rounds to an integer, which is read from the mantissa

// First cell and fraction of one coordinate, with error-free products; false when it is NaN, infinite or overflows.
bool locate_one(float x, const PeriodAxis& axis, std::int64_t& cell, double& fraction);
bool locate_one(double x, const PeriodAxis& axis, std::int64_t& cell, double& fraction);

// Points of one dimension beside their records: the elements of the grid at which their tiles begin, their strengths,
// and what to prefetch meanwhile, point by point.
template <class T>
struct LinePoints {
  const std::int64_t* origin;
  const std::complex<T>* strengths;
  const void* const* ahead;
};

template <class T>
struct GridderKernels {
  const char* isa;
  // Computes keys and, unless form is null, records of n <= kChunk points; x are their coordinates, `first` is the
  // index of the first one. The result for a point depends on that point alone. Returns false when a coordinate is not
  // finite.
  bool (*locate)(const Frame& frame, const RecordForm* form, const std::array<const T*, 3>& x, std::int64_t first,
                 int n, Located& out);
  // Copies n coordinates; returns false when one is not finite.
  bool (*copy)(const T* from, std::int64_t n, T* to);
  // Computes weights of n <= kBlockPoints records. in_bins: x windows lie at their place in the x-bin, and block.row is
  // set; otherwise x windows start at slot 0.
  void (*evaluate)(const WeightTables<T>& tables, const Tiling& tiling, const RecordForm& form,
                   const std::uint32_t* records, int n, bool in_bins, WeightBlock<T>& block);
  // tile += sum_j strengths[j] * window_j
  void (*spread)(const WeightBlock<T>& block, const Tiling& tiling, const std::complex<T>* strengths, T* tile);
  // values[j] = sum window_j * tile
  void (*interpolate)(const WeightBlock<T>& block, const Tiling& tiling, const T* tile, std::complex<T>* values);
  // grid_rows[r][offset + i] += bin row r [i] for i < cells, after which the bin's rows are zero. The rows of a bin are
  // `slots` elements apart. copy_bin reads all `slots` cells of every row.
  void (*add_bin)(T* bin, std::int64_t rows, int slots, std::complex<T>* const* grid_rows, std::int64_t offset,
                  int cells);
  void (*copy_bin)(const std::complex<T>* const* grid_rows, std::int64_t offset, std::int64_t rows, int slots, T* bin);
  // The same directly on the fine grid, with x windows at slot 0: the window of point j starts at complex element[j],
  // and rows are stride_y and stride_z elements apart. Points with a negative element are skipped.
  void (*spread_points)(const WeightBlock<T>& block, const Tiling& tiling, const std::complex<T>* strengths,
                        const std::int64_t* element, std::int64_t stride_y, std::int64_t stride_z, T* grid);
  void (*interpolate_points)(const WeightBlock<T>& block, const Tiling& tiling, const T* grid,
                             const std::int64_t* element, std::int64_t stride_y, std::int64_t stride_z,
                             std::complex<T>* values);
  // In 2D, spread_points for points in the order of pairs, in grids whose rows are whole lines. Null where there is no
  // such kernel.
  decltype(spread_points) spread_pairs = nullptr;
  // In one dimension, evaluates and spreads n <= kBlockPoints records in one go, where grid is at a cache line. Lines
  // that a window touches are read and written whole. Null where there is no such kernel.
  void (*spread_line)(const WeightTables<T>& tables, const RecordForm& form, const std::uint32_t* records, int n,
                      const LinePoints<T>& points, T* grid) = nullptr;
};

// Selects kernels for this processor and width (special ones up to kMaxWidth, general beyond and for look-up windows).
template <class T>
GridderKernels<T> select_kernels(const Tiling& tiling, const WeightTables<T>& tables);
// Plain C++ kernels for any width: the portable instruction set and the wide windows (portable.cpp).
template <class T>
GridderKernels<T> portable_kernels();

}  // namespace fourtune::runtime::cpu
