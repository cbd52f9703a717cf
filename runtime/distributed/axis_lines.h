// FFTs of many adjacent lines along the slowest dimension of an array: the last step of a distributed transform, and
// the first one back.
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/backends/cpu/base/aligned_bytes.h"
#include "runtime/backends/cpu/fft/line_side.h"
#include "runtime/backends/cpu/fft/lines.h"

namespace fourtune::runtime::distributed {

// One side of the transforms: position p of line l is at place(p) * step + l, times factor[place(p)].
template <class T>
struct AxisSide {
  cpu::LineSide side;
  const T* factor = nullptr;
  std::int64_t distance = 0;  // elements from one array to the next, where there are several
  std::int64_t step = 0;      // elements from one position to the next; 0: `lines` of them
  bool past_caches = false;   // as that of cpu::LinePlaces
};

// One thread at a time may run it.
template <class T>
class AxisLines {
 public:
  // `usual`: how many lines there are on all ranks together. The algorithm follows from it and not from the lines of
  // this rank, so that a line's result does not depend on the other lines.
  AxisLines(std::int64_t n, int sign, std::int64_t usual, const generator::FftChoice& choice, int threads);
  // Transforms these of the `lines` lines that the arrays hold. Positions that `from` does not hold are zeros, and
  // those that `to` does not hold are dropped. The arrays are different ones. Several arrays have these lines each.
  void run(const std::complex<T>* from, const AxisSide<T>& from_side, std::complex<T>* to, const AxisSide<T>& to_side,
           std::int64_t lines, cpu::LineRange which, std::int64_t arrays = 1) const;
  std::int64_t bytes() const { return work_.bytes() + fft_->table_bytes() + workers_ * fft_->scratch_bytes(); }

 private:
  std::unique_ptr<cpu::LineFft<T>> fft_;
  int workers_ = 1;
  std::int64_t work_stride_ = 0;
  cpu::AlignedBytes work_;
};

}  // namespace fourtune::runtime::distributed
