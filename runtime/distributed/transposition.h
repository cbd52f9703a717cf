// Moves arrays in host memory between their splits by planes and by columns (transposition_pieces.h), by MPI.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/distributed/communicator.h"
#include "runtime/distributed/transposition_pieces.h"

namespace fourtune::runtime::distributed {

// Where arrays lie: `count` arrays, one after the other, on either side.
struct TransposedArrays {
  void* by_planes = nullptr;
  void* by_columns = nullptr;
  std::int64_t count = 1;
};

class Transposition {
 public:
  Transposition() = default;
  // Throws Error{size_overflow} when a message would have too many rows.
  Transposition(const RankGroup& ranks, const TranspositionShape& shape, const Chunks& chunks, int threads);

  const TranspositionPieces& pieces() const { return pieces_; }
  // Begins to move a chunk, and moves what stays on this rank. The two sides do not overlap, and stay as they are until
  // the transfer has waited. All ranks of the group begin the same chunks in the same order.
  void begin(int chunk, bool to_columns, const TransposedArrays& arrays, Transfer& transfer);
  // With one rank both sides are stored alike, and nothing needs to move.
  bool trivial() const { return ranks_.size() == 1; }

 private:
  // How MPI sees the two slices of a pair; null where there is nothing.
  struct Types {
    DataType by_planes, by_columns;
  };
  void copy_own(const TranspositionPiece& piece, bool to_columns, const TransposedArrays& arrays) const;

  RankGroup ranks_;
  int threads_ = 1;
  TranspositionPieces pieces_;
  std::vector<std::vector<Types>> types_;        // of every piece and pair
  std::vector<Message> by_planes_, by_columns_;  // of the chunk that begins, kept for their memory
};

}  // namespace fourtune::runtime::distributed
