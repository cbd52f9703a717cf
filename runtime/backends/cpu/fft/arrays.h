// Loops over strided arrays and their batches, shared by the FFT families.
#pragma once

#include <algorithm>
#include <complex>
#include <cstdint>

#include "fourtune/problem.h"
#include "runtime/backends/cpu/base/team.h"

namespace fourtune::runtime::cpu {

inline ArrayLayout dense_layout(const Sizes& sizes) {
  ArrayLayout out;
  out.distance = 1;
  for (std::size_t d = 0; d < sizes.size(); ++d) out.stride[d] = out.distance, out.distance *= sizes[d];
  return out;
}

// Calls f(in_index, out_index, i0) for every element, x innermost; threads share the rows.
template <class F>
void for_each_element(int threads, const Sizes& sizes, std::int64_t batch, const ArrayLayout& in,
                      const ArrayLayout& out, F f) {
  // A one-dimensional transform is one long row, so rows are cut into pieces that threads can share.
  constexpr std::int64_t piece = 16384;
  const std::int64_t pieces = (sizes[0] + piece - 1) / piece;
  parallel_for(threads, pieces * sizes[1] * sizes[2] * sizes[3] * batch, [&](std::int64_t row) {
    const std::int64_t first = row % pieces * piece, last = std::min(sizes[0], first + piece);
    std::int64_t rest = row / pieces, from = 0, to = 0;
    for (std::size_t d = 1; d < sizes.size(); ++d) {
      from += rest % sizes[d] * in.stride[d];
      to += rest % sizes[d] * out.stride[d];
      rest /= sizes[d];
    }
    from += rest * in.distance;
    to += rest * out.distance;
    for (std::int64_t x = first; x < last; ++x) f(from + x * in.stride[0], to + x * out.stride[0], x);
  });
}

}  // namespace fourtune::runtime::cpu
