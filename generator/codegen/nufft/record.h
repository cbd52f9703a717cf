// How a located point is kept on a GPU: one string of bits, as short as the transform's error allows, in whole 32-bit
// words. From the lowest bit: for each dimension the place in its cell (`fraction` bits, cut, and meant to be the
// middle of what they leave open), then the first cell.
//
// First cells are whole, or (`whole` false) relative to the bin, followed by the bin's number within its group: enough
// for kernels that work by subproblems, which know the group. Between the levels of a sort in two levels the number
// within the coarse bin stands in its place; what does not fit the record goes to the upper bits of the point's index.
//
// Arrays of records are blocks of 32, so that lanes read whole lines: in each, the parts of 16 bytes lie together, then
// those of 8 and of 4. Rounding positions to units of q cells adds a relative l2 error of sqrt(dim) pi q / (6 sigma),
// as in runtime/backends/cpu/gridder/record.h.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "fourtune/problem.h"

namespace fourtune::generator::nufft {

inline constexpr int kMostStolen = 4;  // bits of an index that a bin's number may take

// Largest unit, in cells, with which rounded positions add at most `error` to a transform.
inline double position_unit(double error, double sigma, int dim) {
  return error * 6 * sigma / (std::sqrt(static_cast<double>(dim)) * std::numbers::pi);
}

struct RecordLayout {
  int fraction = 0;           // bits of the place in a cell, each dimension
  std::array<int, 3> cell{};  // bits of the first cell, or of its place in its bin
  bool whole = true;
  int group_bits = 0;  // of the bin's number in its group
  int low_bits = 0;    // of the number in the coarse bin that fit the record
  int stolen = 0;      // upper bits of an index that hold the rest
  int words = 0;

  std::int64_t bytes(std::int64_t points) const { return (points + 31) / 32 * 128 * words; }
};

// The least words for units of at most `unit` cells (as fine as the precision is where that is less), all of their bits
// used. cells: bits of each first cell; coarse_bits: of a bin's number in a coarse bin (relative records).
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
