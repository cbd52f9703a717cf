// The inner loops of the gridder, chosen once per process for the instruction set (Highway's dispatch).
//
// `values` are complex<T> with T pairs contiguous. All pointers to private tiles and block rows are 64-byte aligned.
#pragma once

#include <array>
#include <complex>
#include <cstdint>

#include "runtime/backends/cpu/gridder/layout.h"
#include "runtime/backends/cpu/gridder/record.h"
#include "runtime/backends/cpu/gridder/weights.h"

namespace fourtune::runtime::cpu {

// Period coordinate along one dimension, p = (x - centre - centre_low) * (factor + factor_low), and the grid it is
// mapped to.
struct Axis {
  double centre = 0, factor = 0, factor_low = 0;
  std::int32_t fine = 1;
  int width = 2;
  double centre_low = 0;
};
// The same in fixed point for points within a period of zero, and by way of p - round(p) for others: x * scale + shift
// is an integer q, the position in cells times 2^bits less the grid where negative; i0 above, 1 - f below.
struct FixedAxis {
  double scale = 0, folded_scale = 0, shift = 0;
  int bits = 0, tile_bits = 0;  // i0 >> tile_bits is the tile
};
// Order inside tiles, which comes down to more keys to sort by: x-bins, and in them groups of 2^plane_bits planes.
struct InnerOrder {
  int bins = 1, groups = 1, plane_bits = 0;
  int keys() const { return bins * groups; }
  std::int64_t key(std::int64_t tile, int bin, std::int64_t z) const {
    return (tile * bins + bin) * groups + (groups > 1 ? z >> plane_bits : 0);
  }
};
// The grid as locating sees it.
struct Frame {
  Tiling tiling;
  InnerOrder inner;
  std::array<Axis, 3> axes{};
  std::array<FixedAxis, 3> fixed_axes{};
  std::array<double, 3> inverse_tile{};
  // Fixed point is exact enough for the record's positions of points up to kNearPeriods away, and tiles are powers of
  // two (or one holds the whole dimension). Otherwise products are error-free.
  bool fixed = false;
};
inline constexpr double kNearPeriods32 = 0x1p20, kNearPeriods64 = 2;
inline constexpr double kIntegers = 0x1.8p52;  // sums with it are rounded to integers, found in the mantissa

// First cell and fraction of one coordinate, with error-free products; false when it is NaN, infinite or overflows.
bool locate_one(float x, const Axis& axis, std::int64_t& cell, double& fraction);
bool locate_one(double x, const Axis& axis, std::int64_t& cell, double& fraction);

template <class T>
struct Kernels {
  const char* isa;
  // Keys and, unless form is null, records of n <= kChunk points; x are their coordinates, `first` the index of the
  // first. What a point becomes depends on nothing but the point. False when a coordinate is not finite.
  bool (*locate)(const Frame& frame, const RecordForm* form, const std::array<const T*, 3>& x, std::int64_t first,
                 int n, Located& out);
  // Weights of n <= kBlockPoints records. in_bins: x windows at their place in the x-bin, and block.row is set;
  // otherwise x windows start at slot 0.
  void (*evaluate)(const WeightTables<T>& tables, const Tiling& tiling, const RecordForm& form,
                   const std::uint32_t* records, int n, bool in_bins, WeightBlock<T>& block);
  // tile += sum_j strengths[j] * window_j
  void (*spread)(const WeightBlock<T>& block, const Tiling& tiling, const std::complex<T>* strengths, T* tile);
  // values[j] = sum window_j * tile
  void (*interpolate)(const WeightBlock<T>& block, const Tiling& tiling, const T* tile, std::complex<T>* values);
  // grid_rows[r][offset + i] += bin row r [i] for i < cells, after which the bin's rows are zero. Rows of a bin are
  // `slots` elements apart. copy_bin reads all `slots` cells of every row.
  void (*add_bin)(T* bin, std::int64_t rows, int slots, std::complex<T>* const* grid_rows, std::int64_t offset,
                  int cells);
  void (*copy_bin)(const std::complex<T>* const* grid_rows, std::int64_t offset, std::int64_t rows, int slots, T* bin);
  // The same straight on the fine grid, x windows at slot 0: the window of point j starts at complex element[j], rows
  // are stride_y and stride_z elements apart. Points with a negative element are left out.
  void (*spread_points)(const WeightBlock<T>& block, const Tiling& tiling, const std::complex<T>* strengths,
                        const std::int64_t* element, std::int64_t stride_y, std::int64_t stride_z, T* grid);
  void (*interpolate_points)(const WeightBlock<T>& block, const Tiling& tiling, const T* grid,
                             const std::int64_t* element, std::int64_t stride_y, std::int64_t stride_z,
                             std::complex<T>* values);
};

// Kernels for this processor and width (specialised up to kMaxWidth, general beyond and for look-up windows).
template <class T>
Kernels<T> select_kernels(const Tiling& tiling, const WeightTables<T>& tables);
// Plain C++ for any width: the portable instruction set and the wide windows.
template <class T>
Kernels<T> portable_kernels();

}  // namespace fourtune::runtime::cpu
