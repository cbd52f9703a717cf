// Moves arrays between two splits over the ranks: by planes, and by columns.
//
// An array has `planes` planes of `columns` columns of `run` elements, the elements of a column and the columns of a
// plane adjacent. A rank holds whole planes on one side, [plane][column][run], and a part of the columns of every plane
// on the other, [plane][own column][run]. In 3D planes are cells along z, columns along y, and a run is a row along x;
// in 2D planes are cells along y, columns along x, and a run is one element.
//
// A rank sends (own planes) x (columns of others) x run elements to change to columns, and (planes of others) x (own
// columns) x run to change back: no less is possible, as everything that it sends is stored elsewhere afterwards. It
// does so in chunks, each with some of every rank's planes, or some of every rank's columns.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/backends/cpu/fft/lines.h"
#include "runtime/distributed/communicator.h"
#include "runtime/distributed/rank_plan.h"
#include "runtime/distributed/split.h"

namespace fourtune::runtime::distributed {

struct TranspositionShape {
  Split planes, columns;
  std::int64_t run = 1;
  std::int64_t element = 16;  // bytes
};

// Where arrays lie: `count` arrays, one after the other, on either side.
struct TransposedArrays {
  void* by_planes = nullptr;
  void* by_columns = nullptr;
  std::int64_t count = 1;
};

class Transposition {
 public:
  Transposition() = default;
  // Cut::batch cuts no array: there is one chunk. Throws Error{size_overflow} when a message would have too many rows.
  Transposition(const Communicator& ranks, const TranspositionShape& shape, const Chunks& chunks, int threads);

  int chunks() const { return static_cast<int>(parts_.size()); }
  // What of this rank's planes and columns a chunk has.
  cpu::LineRange planes(int chunk) const { return part(chunk).planes; }
  cpu::LineRange columns(int chunk) const { return part(chunk).columns; }
  // Begins to move a chunk, and moves what stays on this rank. The two sides do not overlap, and stay as they are until
  // the transfer has waited. All ranks begin the same chunks in the same order.
  void begin(int chunk, bool to_columns, const TransposedArrays& arrays, Transfer& transfer);
  // With one rank both sides are stored alike, and nothing needs to move.
  bool trivial() const { return ranks_ == nullptr || ranks_->size() == 1; }

  std::int64_t planes_elements() const;   // that this rank stores by planes of one array
  std::int64_t columns_elements() const;  // that this rank stores by columns

 private:
  // Another rank's share of this rank's planes, and this rank's share of the other's planes: bytes from the start, and
  // null where there is nothing.
  struct Pair {
    int rank = 0;
    std::int64_t mine_at = 0, theirs_at = 0;
    DataType mine, theirs;
  };
  struct Part {
    cpu::LineRange planes, columns;
    std::vector<Pair> pairs;
  };
  const Part& part(int chunk) const { return parts_[static_cast<std::size_t>(chunk)]; }
  std::vector<Pair> pairs_of(int chunk, const Chunks& chunks) const;
  std::int64_t planes_bytes() const { return planes_elements() * element_; }
  std::int64_t columns_bytes() const { return columns_elements() * element_; }
  void copy_own(const Part& part, bool to_columns, const TransposedArrays& arrays) const;

  const Communicator* ranks_ = nullptr;
  Split planes_, columns_;
  std::int64_t element_ = 16, row_ = 0;  // bytes of an element, of a column
  std::int64_t run_ = 1;
  int threads_ = 1;
  std::vector<Part> parts_;
  std::vector<Message> by_planes_, by_columns_;  // of the chunk that begins, kept for their memory
};

}  // namespace fourtune::runtime::distributed
