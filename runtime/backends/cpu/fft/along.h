// Complex FFTs of one line whose vectors hold neighbours of the line: no value moves to a separate lane and back, as
// in simd.h, and all of a line stays in the first-level cache. Passes (generator/plan/along.h) go from one work area to
// another one, so that results come in natural order and vectors that fill no whole number may overlap.
//
// The same length gives the same operations on every run; the instruction set decides only how many values a vector
// has.
//
// Threads that share a line take parts of the first pass, which writes an equal number of its results to an area of
// each thread. As what is left of a transform never mixes them, all other passes go on in that area, and values pass
// from one thread to another once.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/backends/cpu/base/aligned_bytes.h"

namespace fourtune::runtime::cpu {

template <class T>
struct AlongPlan {
  struct Pass {
    int radix = 0;
    // Before the pass, value i of transform j of those that are left is at r rest done + j done + i, for r < radix, j <
    // rest, i < done.
    std::int64_t rest = 1, done = 1;
    std::int64_t twiddles =
        0;  // index: exp(-2 pi i j q / (radix rest)) for 1 <= q < radix, of the first pass for the j of a vector
  };
  std::int64_t n = 0;
  std::vector<Pass> passes;  // at least two
  AlignedBytes twiddles;
  int areas = 1;           // of threads that share a line (generator/plan/along.h)
  std::int64_t plane = 0;  // numbers of an area's real parts, after which the imaginary ones follow
  std::int64_t area() const { return (passes.size() > 2 ? 4 : 2) * plane; }  // numbers
  // Of the work buffer, which is aligned to 64 bytes.
  std::int64_t work_bytes() const { return areas * area() * static_cast<std::int64_t>(sizeof(T)); }
};

// Lines of n complex numbers each, at distances in numbers of T; in and out may be the same.
template <class T>
struct AlongLines {
  const T* in;
  T* out;
  std::int64_t in_distance = 0, out_distance = 0, count = 1;
};

template <class T>
struct AlongKernels {
  int lanes = 0;  // of the first pass; 0: this processor has no vectors
  // With sign -1, or +1 if swap.
  void (*transform)(const AlongPlan<T>& plan, const AlongLines<T>& lines, T* work, bool swap) = nullptr;
  // One line by all areas (more than one): first `first` for all parts, one for each area, then `later` for all areas.
  // Parts may run at the same time, and so may areas.
  void (*first)(const AlongPlan<T>& plan, int part, const T* in, T* work, bool swap) = nullptr;
  void (*later)(const AlongPlan<T>& plan, int area, T* work, T* out, bool swap) = nullptr;
};
template <class T>
const AlongKernels<T>& along_kernels();
// Where in a vector of the first pass neighbours lie: which one lane l holds.
inline int along_neighbour(int lane, int lanes) { return lane / 2 + lane % 2 * (lanes / 2); }

// Precondition: along_kernels().lanes > 0, generator::along_passes has this length, and areas is 1 or of along_areas.
template <class T>
AlongPlan<T> make_along_plan(std::int64_t n, int areas = 1);

}  // namespace fourtune::runtime::cpu
