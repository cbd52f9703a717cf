// How a GPU stores a located point: a string of bits in whole 32-bit words, as short as the transform's error allows.
// From the lowest bit, it holds for each dimension the place in the cell (`fraction` bits; truncated, and read as the
// middle of the remaining interval), then the first cell.
//
// First cells are either whole or, if `whole` is false, relative to the bin and followed by the bin's number within its
// group. This is enough for kernels that work by subproblems, because these know the group. Between the levels of a
// sort in two levels, the number within the coarse bin is stored in its place; bits that do not fit the record go to
// the upper bits of the point's index.
//
// Arrays of records consist of blocks of 32 records, so that lanes read whole lines: in each block, the 16-byte parts
// come first, then the 8-byte parts, then the 4-byte parts. Rounding positions to units of q cells adds a relative l2
// error of sqrt(dim) pi q / (6 sigma), as in runtime/backends/cpu/gridder/record.h.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "fourtune/problem.h"

namespace fourtune::generator::nufft {

inline constexpr int kMostStolen = 4;  // bits of an index that a bin's number may use

// Largest unit, in cells, for which rounded positions add at most `error` to a transform's error.
inline double position_unit(double error, double sigma, int dim) {
  return error * 6 * sigma / (std::sqrt(static_cast<double>(dim)) * std::numbers::pi);
}

// Unit, in cells, that the last bit of a coordinate has which is half a period or more: points in it lose nothing.
inline double exact_unit(Precision precision, const std::array<std::int64_t, 3>& fine, int dim) {
  const auto fewest = static_cast<double>(*std::min_element(fine.begin(), fine.begin() + dim));
  return std::ldexp(fewest, precision == Precision::f32 ? -24 : -53);
}

struct RecordLayout {
  int fraction = 0;           // bits of the place in a cell, per dimension
  std::array<int, 3> cell{};  // bits of the first cell, or of its place in its bin
  bool whole = true;
  int group_bits = 0;  // bits of the bin's number in its group
  int low_bits = 0;    // bits of the number in the coarse bin that fit the record
  int stolen = 0;      // upper bits of an index that hold the other bits
  int words = 0;

  std::int64_t bytes(std::int64_t points) const { return (points + 31) / 32 * 128 * words; }
};

// The smallest number of words for units of at most `unit` cells (or the precision's resolution if that is coarser),
// with all of their bits used. cells: bits of each first cell; coarse_bits: bits of a bin's number in a coarse bin
// (relative records).
inline RecordLayout make_record_layout(int dim, Precision precision, double unit, const std::array<int, 3>& cell,
                                       bool whole, int group_bits, int coarse_bits) {
  RecordLayout layout;
  layout.whole = whole;
  layout.cell = cell;
  layout.group_bits = whole ? 0 : group_bits;
  const int finest = precision == Precision::f32 ? 23 : 52;
  const int cells = cell[0] + cell[1] + cell[2];
  const int more = whole ? 0 : std::max(group_bits, coarse_bits - kMostStolen);
  do {
    ++layout.words;
    const int room = (32 * layout.words - cells - more) / dim;
    layout.fraction = std::min(room, finest);
  } while (layout.fraction < 1 || (layout.fraction < finest && std::ldexp(1.0, -layout.fraction) > unit));
  if (whole) return layout;
  const int left = 32 * layout.words - cells - dim * layout.fraction;
  layout.low_bits = std::min(left, std::max(coarse_bits, group_bits));
  layout.stolen = std::max(0, coarse_bits - layout.low_bits);
  return layout;
}

}  // namespace fourtune::generator::nufft
