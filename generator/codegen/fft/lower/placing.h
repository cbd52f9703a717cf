// Where positions along a dimension lie in an array.
#pragma once

#include <array>
#include <cstdint>

namespace fourtune::generator::fft {

// Where position p along an axis lies in an array: p % cut * low + p / cut * high.
struct Placing {
  std::int64_t cut = 1, low = 1, high = 1;
};
using Placings = std::array<Placing, 4>;
inline Placing straight(std::int64_t stride) { return {std::int64_t{1} << 62, stride, 0}; }
// Size of the lower part into which a digit must be split so that each part has one stride; 0: it need not be.
inline std::int64_t split_for(const Placing& placing, std::int64_t weight, std::int64_t size) {
  if (weight >= placing.cut || weight * size <= placing.cut) return 0;
  return placing.cut / weight;
}
inline std::int64_t stride_of(const Placing& placing, std::int64_t weight) {
  return weight >= placing.cut ? weight / placing.cut * placing.high : weight * placing.low;
}

}  // namespace fourtune::generator::fft
