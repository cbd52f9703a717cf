// How a located point is packed: one bit string, as short as the tolerance and the number of points allow.
//
// From its lowest bit upwards, a record holds the position in the tile for every dimension, then the point's index
// where records are grouped. A position is the first cell in the high bits and the fraction f of a cell in the low
// bits; f is truncated to units of 2^-fraction and stands for the middle of its unit. A record takes a whole number of
// 32-bit words. A field is read with one unaligned 64-bit load, which may reach kRecordSlack words beyond a record.
//
// Rounding positions to q = 2^-fraction cells moves every point by an error of variance q^2/12. At frequency k of a
// grid of `fine` cells that is a phase error of 2 pi k q / (fine sqrt(12)). Over |k| <= fine / (2 sigma) its root mean
// square is pi q / (6 sigma) per dimension, and the dimensions add up as independent errors.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "runtime/backends/cpu/gridder/layout.h"

namespace fourtune::runtime::cpu {

static_assert(std::endian::native == std::endian::little, "fields of a record are read by byte offset");

inline constexpr int kChunk = 256;         // points located together
inline constexpr int kFieldBits = 57;      // readable by one 64-bit load at any byte
inline constexpr int kRecordSlack = 2;     // words
inline constexpr int kMostFraction = 52;   // bits
inline constexpr int kMaxRecordWords = 7;  // 3 * 57 + 40 bits

// The fewest fraction bits with which rounded positions add at most `error` (relative l2) to a transform.
inline int fraction_bits(double error, double sigma, int dim) {
  const double unit = std::sqrt(static_cast<double>(dim)) * 3.14159265358979323846 / (6 * sigma);
  return std::clamp(static_cast<int>(std::ceil(std::log2(unit / error))), 8, kMostFraction);
}

struct Field {
  int bits = 0, offset = 0;
  std::uint64_t mask() const { return (std::uint64_t{1} << bits) - 1; }
  std::uint64_t of(const std::uint32_t* record) const {
    std::uint64_t v;
    std::memcpy(&v, reinterpret_cast<const char*>(record) + (offset >> 3), sizeof v);
    return v >> (offset & 7) & mask();
  }
};

struct RecordForm {
  struct FieldShift {  // field `field` goes to 64-bit word `word`, shifted left (right when negative)
    int field, word, shift;
  };
  int dim = 1;
  int words = 2;               // 32-bit words
  int fraction = 24;           // bits of f
  std::array<Field, 4> field;  // 0 .. dim-1: positions; 3: index (no bits when records are in the caller's order)
  std::array<FieldShift, 8> shifts{};
  int shift_count = 0;

  int cell(const std::uint32_t* record, int d) const { return static_cast<int>(field[d].of(record) >> fraction); }
  std::int64_t index(const std::uint32_t* record) const { return static_cast<std::int64_t>(field[3].of(record)); }
};

// The form for m points in tiles of `tiling`; `fraction` is reduced to what fits in a field.
inline RecordForm make_record_form(const Tiling& tiling, int fraction, std::int64_t m, bool indexed) {
  RecordForm form;
  form.dim = tiling.dim;
  form.fraction = fraction;
  int cell_bits[3] = {0, 0, 0};
  for (int d = 0; d < tiling.dim; ++d) {
    cell_bits[d] = static_cast<int>(std::bit_width(static_cast<unsigned>(tiling.tile[d] - 1)));
    form.fraction = std::min(form.fraction, kFieldBits - cell_bits[d]);
  }
  int bits = 0;
  const auto append = [&](int f, int length) {
    form.field[f] = {length, bits};
    for (int at = bits; at < bits + length; at = (at / 64 + 1) * 64) {
      const int word = at / 64;
      form.shifts[form.shift_count++] = {f, word, at == bits ? bits % 64 : bits - at};
    }
    bits += length;
  };
  for (int d = 0; d < tiling.dim; ++d) append(d, cell_bits[d] + form.fraction);
  if (indexed)
    append(3, static_cast<int>(std::bit_width(static_cast<std::uint64_t>(std::max<std::int64_t>(m - 1, 1)))));
  form.words = (bits + 31) / 32;
  return form;
}

// One chunk of located points: the keys to sort by (InnerOrder::key), and records stored by 64-bit word. Only the words
// that records have are touched, so chunks that are kept may lie bytes_of_located() apart.
struct Located {
  alignas(kLine) std::int32_t key[kChunk];
  alignas(kLine) std::uint64_t word[(kMaxRecordWords + 1) / 2][kChunk];
};
constexpr std::int64_t bytes_of_located(int words) {
  return static_cast<std::int64_t>(sizeof(Located::key) + (words + 1) / 2 * sizeof(Located::word[0]));
}

}  // namespace fourtune::runtime::cpu
