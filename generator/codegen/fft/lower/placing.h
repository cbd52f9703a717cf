// Maps positions along a dimension to places in an array.
#pragma once

#include <array>
#include <cstdint>

namespace fourtune::generator::fft {

// Position p along an axis lies at p % cut * low + p / cut * high in the array.
struct Placing {
  std::int64_t cut = 1, low = 1, high = 1;
};
using Placings = std::array<Placing, 4>;
inline Placing straight(std::int64_t stride) { return {std::int64_t{1} << 62, stride, 0}; }
// Size of the lower part when a digit must be split so that each part has a single stride; 0: no split is needed.
inline std::int64_t split_for(const Placing& placing, std::int64_t weight, std::int64_t size) {
  if (weight >= placing.cut || weight * size <= placing.cut) return 0;
  return placing.cut / weight;
}
inline std::int64_t stride_of(const Placing& placing, std::int64_t weight) {
  return weight >= placing.cut ? weight / placing.cut * placing.high : weight * placing.low;
}

}  // namespace fourtune::generator::fft
