// Transforms of lines that are adjacent in the array, a group of as many as a vector has lanes in each work area. The
// first and the last level read and write the array themselves (SimdEdge of fft/simd.h).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/backends/cpu/fft/simd.h"

namespace fourtune::runtime::cpu {

template <class T>
class SimdColumns {
 public:
  // An axis of more than one value of a column, which has rows * plan->n * width values.
  struct Axis {
    std::shared_ptr<const SimdFftPlan<T>> plan;
    SimdAxis box;
  };
  // axes: at least one, in the order in which they are transformed; swap: with sign +1.
  SimdColumns(const SimdFftKernels<T>& kernels, std::vector<Axis> axes, bool swap);

  // The first line's values are `step` numbers apart; lines follow each other. in and out may be the same.
  struct Places {
    const T* in;
    T* out;
    std::int64_t in_step, out_step;
  };
  // work: area() numbers for each group of lines. scratch: of the plans.
  void run(const Places& places, std::int64_t lines, T* work, T* scratch) const;
  std::int64_t area() const { return (size_ + 1) * 2 * kernels_.lanes; }
  std::int64_t bytes() const;

 private:
  void whole_groups(const Places& places, int groups, T* work, T* scratch) const;
  void last_group(const Places& places, int lines, T* work, T* scratch) const;

  const SimdFftKernels<T>& kernels_;
  std::vector<Axis> axes_;
  bool swap_;
  std::int64_t size_ = 0;
  std::vector<std::int32_t> elements_, results_;  // of result k the element, and of an element the result
};

}  // namespace fourtune::runtime::cpu
