// FFTs of many rows along x, which follow each other without gaps: the first step of a transform whose planes are
// split.
#pragma once

#include <cstdint>
#include <memory>

#include "fourtune/problem.h"
#include "runtime/backends/cpu/base/aligned_bytes.h"
#include "runtime/backends/cpu/fft/lines.h"

namespace fourtune::runtime::distributed {

// The formulas are those of cpu::FftOperation in one dimension.
struct RowFftSpec {
  FftType type = FftType::c2c;
  std::int64_t n = 1;
  int sign = -1;
  double interior = 1;
  // How many rows there are on all ranks together: the algorithm follows from it, so that a row's result does not
  // depend on the other rows of this rank.
  std::int64_t usual = 1;
  generator::FftChoice choice;
  int threads = 1;
};

// One thread at a time may run it.
template <class T>
class RowFfts {
 public:
  explicit RowFfts(const RowFftSpec& spec);
  // The arrays are different ones.
  void run(const void* from, void* to, std::int64_t rows) const;
  std::int64_t bytes() const { return work_.bytes() + fft_->table_bytes() + workers_ * fft_->scratch_bytes(); }

 private:
  RowFftSpec spec_;
  std::unique_ptr<cpu::LineFft<T>> fft_;
  int workers_ = 1;
  std::int64_t work_stride_ = 0;
  cpu::AlignedBytes work_;
};

}  // namespace fourtune::runtime::distributed
