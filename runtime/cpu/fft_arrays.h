// Loops over strided arrays of up to three dimensions and a batch, shared by the FFT families.
#pragma once

#include <omp.h>

#include <algorithm>
#include <array>
#include <complex>
#include <cstdint>
#include <type_traits>

#include "fourtune/problem.h"

namespace fourtune::runtime::cpu {

// body(index) or body(index, worker) for index < count on `threads` threads (the caller's one included), worker <
// threads; contiguous shares, so that results and page placement do not depend on timing. The worker is our own number:
// the caller may be any thread of a team of its own.
template <class F>
void parallel_for(int threads, std::int64_t count, F body) {
  const auto call = [&body](std::int64_t i, int worker) {
    if constexpr (std::is_invocable_v<F, std::int64_t, int>) {
      body(i, worker);
    } else {
      body(i);
    }
  };
  if (threads <= 1 || count <= 1) {
    for (std::int64_t i = 0; i < count; ++i) call(i, 0);
    return;
  }
#pragma omp parallel for schedule(static) num_threads(threads)
  for (std::int64_t i = 0; i < count; ++i) call(i, omp_get_thread_num());
}

inline ArrayLayout dense_layout(const std::array<std::int64_t, 3>& sizes) {
  return {{1, sizes[0], sizes[0] * sizes[1]}, sizes[0] * sizes[1] * sizes[2]};
}

// f(in_index, out_index, i0) for every element, x innermost; threads share the rows.
template <class F>
void for_each_element(int threads, const std::array<std::int64_t, 3>& sizes, std::int64_t batch, const ArrayLayout& in,
                      const ArrayLayout& out, F f) {
  // A one-dimensional transform is one long row: cut rows into pieces so that threads can share it.
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
