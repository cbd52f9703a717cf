// The pruned FFT of one dimension by vectors along the line (fft/along.h): one transform at a time, so that a batch of
// any size fills the vectors and threads share its transforms.
#pragma once

#include <algorithm>
#include <complex>
#include <cstdint>
#include <vector>

#include "generator/plan/along.h"
#include "runtime/backends/cpu/fft/along.h"
#include "runtime/backends/cpu/fft/line_side.h"

namespace fourtune::runtime::cpu {

template <class T>
class AlongLine {
  using Value = std::complex<T>;

 public:
  static bool supports(std::int64_t n) {
    constexpr Precision precision = sizeof(T) == 4 ? Precision::f32 : Precision::f64;
    return along_kernels<T>().lanes > 0 && !generator::along_passes(n, precision).radices.empty();
  }
  // cells: which positions are in the grid. Precondition: supports(n).
  AlongLine(std::int64_t n, int sign, const LineSide& cells)
      : plan_(make_along_plan<T>(n)), swap_(sign > 0), cells_(cells), whole_(cells.low.count == n) {}

  std::int64_t bytes() const { return plan_.twiddles.bytes(); }
  // Of a work buffer: the passes' areas, and a line where the grid holds a part of it.
  std::int64_t work_bytes() const {
    return areas() + (whole_ ? 0 : plan_.n * static_cast<std::int64_t>(sizeof(Value)));
  }

  // kept: which positions are modes; factor: a number per mode, or null. A grid that holds the whole line is
  // overwritten.
  void truncate(Value* grid, Value* modes, const LineSide& kept, const T* factor, void* work) const {
    Value* const line = line_of(grid, work);
    if (!whole_) fill(grid, cells_, nullptr, line);
    transform(line, work);
    const auto store = [&](const LineRange& range, std::int64_t at) {
      for (std::int64_t i = 0; i < range.count; ++i)
        modes[at + i] = factor == nullptr ? line[range.first + i] : line[range.first + i] * factor[at + i];
    };
    store(kept.low, kept.low_at), store(kept.high, kept.high_at);
  }
  void pad(const Value* modes, const LineSide& kept, const T* factor, Value* grid, void* work) const {
    Value* const line = line_of(grid, work);
    fill(modes, kept, factor, line);
    transform(line, work);
    if (whole_) return;
    std::copy_n(line + cells_.low.first, cells_.low.count, grid + cells_.low_at);
    std::copy_n(line + cells_.high.first, cells_.high.count, grid + cells_.high_at);
  }

 private:
  std::int64_t areas() const { return (plan_.work_bytes() + 63) / 64 * 64; }
  Value* line_of(Value* grid, void* work) const {
    return whole_ ? grid : reinterpret_cast<Value*>(static_cast<char*>(work) + areas());
  }
  void fill(const Value* from, const LineSide& side, const T* factor, Value* line) const {
    const auto load = [&](const LineRange& range, std::int64_t at) {
      for (std::int64_t i = 0; i < range.count; ++i)
        line[range.first + i] = factor == nullptr ? from[at + i] : from[at + i] * factor[at + i];
    };
    load(side.low, side.low_at), load(side.high, side.high_at);
    std::fill(line + side.low.count, line + side.high.first, Value());
  }
  void transform(Value* line, void* work) const {
    T* const numbers = reinterpret_cast<T*>(line);
    along_kernels<T>().transform(plan_, {numbers, numbers}, static_cast<T*>(work), swap_);
  }

  AlongPlan<T> plan_;
  bool swap_;
  LineSide cells_;
  bool whole_;
};

}  // namespace fourtune::runtime::cpu
