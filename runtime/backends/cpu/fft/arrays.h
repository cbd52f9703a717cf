// Loops over strided arrays of up to three dimensions and a batch, shared by the FFT families.
#pragma once

#include <algorithm>
#include <array>
#include <complex>
#include <cstdint>

#include "fourtune/problem.h"
#include "runtime/backends/cpu/base/team.h"

namespace fourtune::runtime::cpu {

inline ArrayLayout dense_layout(const std::array<std::int64_t, 3>& sizes) {
  return {{1, sizes[0], sizes[0] * sizes[1]}, sizes[0] * sizes[1] * sizes[2]};
}

// Calls f(in_index, out_index, i0) for every element, x innermost; threads share the rows.
template <class F>
void for_each_element(int threads, const std::array<std::int64_t, 3>& sizes, std::int64_t batch, const ArrayLayout& in,
                      const ArrayLayout& out, F f) {
  // A one-dimensional transform is one long row, so rows are cut into pieces that threads can share.
  constexpr std::int64_t piece = 16384;
  const std::int64_t pieces = (sizes[0] + piece - 1) / piece;
  parallel_for(threads, pieces * sizes[1] * sizes[2] * batch, [&](std::int64_t row) {
    const std::int64_t first = row % pieces * piece, last = std::min(sizes[0], first + piece);
    std::int64_t rest = row / pieces;
    const std::int64_t y = rest % sizes[1];
    rest /= sizes[1];
    const std::int64_t z = rest % sizes[2], b = rest / sizes[2];
    const std::int64_t from = y * in.stride[1] + z * in.stride[2] + b * in.distance;
    const std::int64_t to = y * out.stride[1] + z * out.stride[2] + b * out.distance;
    for (std::int64_t x = first; x < last; ++x) f(from + x * in.stride[0], to + x * out.stride[0], x);
  });
}

}  // namespace fourtune::runtime::cpu
