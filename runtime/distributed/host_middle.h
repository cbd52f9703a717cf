// The middle of a pipeline (pipeline.h) in host memory: arrays on either side, moved by MPI.
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

#include "fourtune/problem.h"
#include "runtime/backends/cpu/base/buffer.h"
#include "runtime/distributed/transposition.h"

namespace fourtune::runtime::distributed {

template <class T>
class HostMiddle {
  using Complex = std::complex<T>;

 public:
  // Throws Error{out_of_memory | size_overflow}; does not communicate.
  void bind(const RankGroup& ranks, const TranspositionShape& shape, const Chunks& chunks,
            const TranspositionMemory& held, int threads) {
    exchange_ = Transposition(ranks, shape, chunks, threads);
    by_planes_.resize(checked_multiply(pieces().planes_elements(), held.arrays, "planes"));
    by_columns_.resize(trivial() ? 0 : checked_multiply(pieces().columns_elements(), held.arrays, "columns"));
    transfers_.resize(static_cast<std::size_t>(held.slots));
  }
  const TranspositionPieces& pieces() const { return exchange_.pieces(); }
  bool trivial() const { return exchange_.trivial(); }
  std::int64_t bytes() const { return by_planes_.bytes() + by_columns_.bytes(); }

  Complex* planes_at(std::int64_t place) { return by_planes_.data() + place * pieces().planes_elements(); }
  Complex* columns_at(std::int64_t place) {
    return trivial() ? by_planes_.data() : by_columns_.data() + place * pieces().columns_elements();
  }
  void begin(int slot, int chunk, bool to_columns, std::int64_t place, std::int64_t count) {
    exchange_.begin(chunk, to_columns, {planes_at(place), columns_at(place), count}, transfer(slot));
  }
  void poll(int slot) { transfer(slot).poll(); }
  void wait(int slot) { transfer(slot).wait(); }

 private:
  Transfer& transfer(int slot) { return transfers_[static_cast<std::size_t>(slot)]; }

  Transposition exchange_;
  cpu::Buffer<Complex> by_planes_, by_columns_;
  std::vector<Transfer> transfers_;
};

}  // namespace fourtune::runtime::distributed
