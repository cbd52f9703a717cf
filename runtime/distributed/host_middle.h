// The middle of a pipeline (pipeline.h) in host memory: arrays on either side, moved by MPI; or joined arrays of whole
// planes (TranspositionShape) in memory that the ranks of a machine share, where nothing moves.
#pragma once

#include <algorithm>
#include <complex>
#include <cstdint>
#include <vector>

#include "fourtune/problem.h"
#include "runtime/backends/cpu/base/buffer.h"
#include "runtime/distributed/machine_memory.h"
#include "runtime/distributed/transposition.h"

namespace fourtune::runtime::distributed {

template <class T>
class HostMiddle {
  using Complex = std::complex<T>;

 public:
  // Throws Error{out_of_memory | size_overflow}; does not communicate.
  void bind(const RankGroup& ranks, const TranspositionShape& shape, const Chunks& chunks,
            const TranspositionMemory& held, int threads) {
    ranks_ = &ranks.all();
    exchange_ = Transposition(ranks, shape, chunks, threads);
    joined_ = shape.joined && !trivial();
    arrays_ = held.arrays;
    array_ = checked_multiply(shape.planes.items(), shape.joined_plane(), "planes");
    checked_multiply(array_, held.arrays * shape.element, "planes");
    if (joined_) return;
    by_planes_.resize(checked_multiply(pieces().planes_elements(), held.arrays, "planes"));
    by_columns_.resize(trivial() ? 0 : checked_multiply(pieces().columns_elements(), held.arrays, "columns"));
    transfers_.resize(static_cast<std::size_t>(held.slots));
  }
  const TranspositionPieces& pieces() const { return exchange_.pieces(); }
  bool trivial() const { return exchange_.trivial(); }
  // Of shared memory, this rank's planes.
  std::int64_t bytes() const {
    return joined_ ? arrays_ * pieces().planes_bytes() : by_planes_.bytes() + by_columns_.bytes();
  }

  bool adjacent() const { return !joined_; }
  Complex* planes_at(std::int64_t place) {
    return joined_ ? joined_at(place) + pieces().planes_begin()
                   : by_planes_.data() + place * pieces().planes_elements();
  }
  Complex* columns_at(std::int64_t place) {
    if (joined_) return joined_at(place) + pieces().columns_begin();
    return trivial() ? by_planes_.data() : by_columns_.data() + place * pieces().columns_elements();
  }
  void open() {
    if (!joined_) return;
    memory_.resize(*ranks_, std::max<std::int64_t>(1, arrays_ * array_ * exchange_.pieces().element()));
    meet(*ranks_);
  }
  void begin(int slot, int chunk, bool to_columns, std::int64_t place, std::int64_t count) {
    if (joined_) return;
    exchange_.begin(chunk, to_columns, {planes_at(place), columns_at(place), count}, transfer(slot));
  }
  void poll(int slot) { transfer(slot).poll(); }
  void wait(int slot) { joined_ ? meet(*ranks_) : transfer(slot).wait(); }

 private:
  Complex* joined_at(std::int64_t place) { return reinterpret_cast<Complex*>(memory_.data()) + place * array_; }
  Transfer& transfer(int slot) { return transfers_[static_cast<std::size_t>(slot)]; }

  const Communicator* ranks_ = nullptr;
  Transposition exchange_;
  bool joined_ = false;
  std::int64_t arrays_ = 0, array_ = 0;  // held; elements of one
  MachineMemory memory_;                 // of joined arrays
  cpu::Buffer<Complex> by_planes_, by_columns_;
  std::vector<Transfer> transfers_;
};

}  // namespace fourtune::runtime::distributed
