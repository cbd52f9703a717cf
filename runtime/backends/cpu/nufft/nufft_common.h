// Functions that the nonuniform executors share.
#pragma once

#include <array>
#include <vector>

#include "generator/window/window.h"
#include "runtime/backends/cpu/gridder/gridder.h"
#include "runtime/backends/cpu/nufft/pruned_fft.h"

namespace fourtune::runtime::cpu {

inline constexpr double kPi = 3.14159265358979323846, kPiLow = 0x1.1a62633145c07p-53;  // rounded, and the rest

// 1 / phihat(2 pi j / fine), j = 0 .. modes/2: undoes the window in frequency space.
inline std::vector<double> deconvolution(const generator::Window& window, std::int64_t fine, std::int64_t modes) {
  auto table = window.fourier_table(2 * kPi / static_cast<double>(fine), static_cast<long>(modes / 2 + 1));
  for (double& value : table) value = 1 / value;
  return table;
}

// A dense grid without padding: the caller's array, or the modes of an inner transform.
inline GridShape dense_shape(int dim, const std::array<std::int64_t, 3>& sizes) {
  GridShape shape;
  shape.dim = dim;
  shape.fine = sizes;
  shape.stride = {1, sizes[0], checked_multiply(sizes[0], sizes[1], "grid")};
  shape.elements = checked_multiply(shape.stride[2], sizes[2], "grid");
  return shape;
}

}  // namespace fourtune::runtime::cpu
