// The axes of arrays, and how far apart positions along them lie.
#pragma once

#include <array>
#include <cstdint>

#include "fourtune/problem.h"

namespace fourtune::generator::fft {

// The axes of an array: x, y, z, w and the batch; and one number for each, its lengths or its strides.
inline constexpr int batch_axis = most_dimensions;
using AxisNumbers = std::array<std::int64_t, batch_axis + 1>;

// Position p along an axis lies at p % cut * low + p / cut * high in the array.
struct SplitStride {
  std::int64_t cut = 1, low = 1, high = 1;
};
using SplitStrides = std::array<SplitStride, batch_axis + 1>;
inline SplitStride straight(std::int64_t stride) { return {std::int64_t{1} << 62, stride, 0}; }
// Size of the lower part when a digit must be split so that each part has a single stride; 0: no split is needed.
inline std::int64_t split_for(const SplitStride& axis, std::int64_t weight, std::int64_t size) {
  if (weight >= axis.cut || weight * size <= axis.cut) return 0;
  return axis.cut / weight;
}
inline std::int64_t stride_of(const SplitStride& axis, std::int64_t weight) {
  return weight >= axis.cut ? weight / axis.cut * axis.high : weight * axis.low;
}

}  // namespace fourtune::generator::fft
