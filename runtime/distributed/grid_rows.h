// FFTs of the rows along x of a rank's part of the fine grid, of which only the modes are kept: the first step of a
// transform whose planes are split, and the last one back.
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/backends/cpu/base/aligned_bytes.h"
#include "runtime/distributed/axis_lines.h"
#include "runtime/distributed/grid_part.h"

namespace fourtune::runtime::distributed {

// What all rows have in common.
struct GridRowSpec {
  std::int64_t n = 1;
  int sign = -1;
  // How many rows there are on all ranks together: the algorithm follows from it, so that a row's result does not
  // depend on the other rows of this rank.
  std::int64_t usual = 1;
  generator::FftChoice choice;
  int threads = 1;
};

// One thread at a time may run it.
template <class T>
class GridRows {
  using Complex = std::complex<T>;

 public:
  // `rows`: of a plane. `shape`: of the grid.
  GridRows(const GridRowSpec& spec, const std::vector<LayerSpan>& rows, const cpu::GridShape& shape);
  // `cells`: the first of so many planes. `modes`: [plane][row][mode] without gaps. The distance of `kept` is not used.
  void truncate(const Complex* cells, Complex* modes, const AxisSide<T>& kept, std::int64_t planes) const;
  void pad(const Complex* modes, Complex* cells, const AxisSide<T>& kept, std::int64_t planes) const;
  std::int64_t bytes() const { return work_.bytes() + fft_->table_bytes() + workers_ * fft_->scratch_bytes(); }

 private:
  template <class Row>
  void for_each_block(std::int64_t planes, std::int64_t modes, Row row) const;

  cpu::GridShape shape_;
  std::int64_t n_;
  std::unique_ptr<cpu::LineFft<T>> fft_;
  std::vector<LayerSpan> blocks_;  // rows that are transformed together
  std::int64_t rows_ = 0;          // of a plane
  int workers_ = 1;
  std::int64_t work_stride_ = 0;
  cpu::AlignedBytes work_;
};

}  // namespace fourtune::runtime::distributed
