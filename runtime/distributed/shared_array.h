// An array that every rank holds whole while it computes, and of which each rank owns a part: modes or points of a
// replicated transform.
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

#include "runtime/backends/cpu/base/buffer.h"
#include "runtime/distributed/communicator.h"
#include "runtime/slabs/split.h"

namespace fourtune::runtime::distributed {

// The whole array has `rows` rows of `row` elements; rank r owns elements [begin(r), end(r)) of every row, and stores
// them as dense rows.
//
// A rank sends (rows of its part) to each of the others in gather, and everything that it does not own in reduce: in
// both, no rank can do with less that it sends from its own memory to the memory of others.
template <class T>
class SharedArray {
  using Complex = std::complex<T>;

 public:
  // Throws Error{out_of_memory | size_overflow}; does not communicate.
  void bind(const Communicator& ranks, std::int64_t rows, const Split& columns);
  std::int64_t whole() const { return rows_ * columns_.items(); }
  std::int64_t part(int rank) const { return rows_ * columns_.size(rank); }
  // Every rank gets all parts. Collective.
  void gather(const Communicator& ranks, const Complex* own, Complex* whole) const;
  // own = the sum of the ranks' whole arrays, in the order of the ranks. Collective.
  void reduce(const Communicator& ranks, const Complex* whole, Complex* own);
  std::int64_t bytes() const { return arrived_.bytes(); }

 private:
  void copy_own(const Communicator& ranks, const Complex* from, std::int64_t from_row, Complex* to,
                std::int64_t to_row) const;

  std::int64_t rows_ = 1;
  Split columns_;
  std::vector<DataType> slices_;  // by rank: its part in a whole array
  DataType row_;                  // a row of this rank's part
  cpu::Buffer<Complex> arrived_;
};

}  // namespace fourtune::runtime::distributed
