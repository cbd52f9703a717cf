// Window weights at located points: coefficient tables in the layouts that the kernels read.
#pragma once

#include <complex>
#include <cstdint>

#include "runtime/backends/cpu/base/buffer.h"
#include "runtime/backends/cpu/gridder/gridder.h"
#include "runtime/backends/cpu/gridder/layout.h"

namespace fourtune::runtime::cpu {

// Weights are evaluated by Horner's rule in z = 2 f - 1 or, with table > 0, by linear interpolation between the values
// at f = e / table (the look-up of paper nufft3d-cpu-optimization; its accuracy is about (pi w / 4 table)^2 / 8, which
// the plan chooses).
template <class T>
struct WeightTables {
  int width = 2;
  int degree = 0;
  int slots = 8;
  int table = 0;
  Buffer<T> piece;  // (degree+1) x width, highest power first; for look-up (table+1) x width values
  // The same coefficients in `pairs` pairs of rows, an odd power and the even one below it, for kernels that evaluate
  // both parts. Rows are whole lines of `row` numbers, zero behind the window. Empty for look-up.
  Buffer<T> parts;
  int pairs = 0, row = 0;

  std::int64_t bytes() const { return piece.bytes() + parts.bytes(); }
};

template <class T>
WeightTables<T> make_weight_tables(const GridderSpec& spec, const Tiling& tiling);
// The fraction bits that a record needs so that rounded positions stay well below the window's error.
template <class T>
int position_bits(const GridderSpec& spec);

// Weights of up to kBlockPoints points. x rows: 2 * slots values per point, with windows either at their place in the
// x-bin (private tiles) or at slot 0 (fine grid). y_weights(), z: weight p of point j is at p * kBlockPoints + j; those
// of y have kPairRows more on either side, which are zero.
template <class T>
struct WeightBlock {
  explicit WeightBlock(const WeightTables<T>& tables) {
    x.resize(std::int64_t{kBlockPoints} * 2 * tables.slots + 2 * kLine);
    y.resize(std::int64_t{kBlockPoints} * (tables.width + 2 * kPairRows));
    std::fill_n(y.data(), y.size(), T{0});
    z.resize(std::int64_t{kBlockPoints} * tables.width);
  }
  int n = 0;
  Buffer<T> x, y, z;
  T* y_weights() { return y.data() + kPairRows * kBlockPoints; }
  const T* y_weights() const { return y.data() + kPairRows * kBlockPoints; }
  alignas(kLine) std::int32_t cell[3][kBlockPoints] = {};  // first cell, relative to the tile
  alignas(kLine) std::int32_t row[kBlockPoints] = {};      // element of (x-bin, z, y, slot 0) in the private tile
  // Addresses that the kernels prefetch while they process point j: values of points further ahead.
  const void* ahead[kBlockPoints] = {};
  std::int64_t bytes() const { return x.bytes() + y.bytes() + z.bytes(); }
};

}  // namespace fourtune::runtime::cpu
