// Moves an array between two splits over the ranks: by planes, and by columns.
//
// The array has `planes` planes of `columns` columns of `run` elements, the elements of a column and the columns of a
// plane adjacent. A rank holds whole planes on one side, [plane][column][run], and a part of the columns of every plane
// on the other, [plane][own column][run]. In 3D planes are cells along z, columns along y, and a run is a row along x;
// in 2D planes are cells along y, columns along x, and a run is one element.
//
// A rank sends (own planes) x (columns of others) x run elements to change to columns, and (planes of others) x (own
// columns) x run to change back: no less is possible, as everything that it sends is stored elsewhere afterwards.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/distributed/communicator.h"
#include "runtime/distributed/split.h"

namespace fourtune::runtime::distributed {

class Transposition {
 public:
  Transposition() = default;
  // Elements have `element` bytes. Throws Error{size_overflow} when a message would have too many rows.
  Transposition(const Communicator& ranks, const Split& planes, const Split& columns, std::int64_t run,
                std::int64_t element, int threads);

  // The arrays do not overlap. With one rank both sides are stored alike, and nothing needs to move: see trivial().
  void to_columns(const void* by_planes, void* by_columns) const;
  void to_planes(const void* by_columns, void* by_planes) const;
  bool trivial() const { return ranks_ == nullptr || ranks_->size() == 1; }

  std::int64_t planes_elements() const;   // that this rank stores by planes
  std::int64_t columns_elements() const;  // that this rank stores by columns

 private:
  // Another rank's share of this rank's planes, and this rank's share of the other's planes.
  struct Pair {
    int rank = 0;
    std::int64_t mine_at = 0, mine_count = 0;      // bytes from the start by planes; rows
    std::int64_t theirs_at = 0, theirs_count = 0;  // bytes from the start by columns; rows
    DataType mine;
  };
  void copy_own(char* planes, char* columns, bool to_columns) const;
  void move(char* planes, char* columns, bool to_columns) const;

  const Communicator* ranks_ = nullptr;
  Split planes_, columns_;
  std::int64_t row_ = 0;  // bytes of a column
  std::int64_t run_ = 0;
  int threads_ = 1;
  DataType column_row_;  // a row of this rank's columns
  std::vector<Pair> pairs_;
};

}  // namespace fourtune::runtime::distributed
