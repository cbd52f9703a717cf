// The middle of a pipeline (pipeline.h) in a GPU's memory.
#pragma once

#include <complex>
#include <cstdint>
#include <memory>

#include "fourtune/problem.h"
#include "runtime/distributed/device_exchange.h"

namespace fourtune::runtime::distributed {

template <class T>
class DeviceMiddle {
  using Complex = std::complex<T>;

 public:
  // Throws Error{out_of_memory | size_overflow}; does not communicate. The exchange outlives this. own_planes: of a
  // joined array, whose other planes other ranks have (Kept::grid), the part that is here; nothing is allocated then.
  void bind(const RankGroup& ranks, const TranspositionShape& shape, const Chunks& chunks,
            const TranspositionMemory& held, DeviceExchange& exchange, const DeviceCopy& memory,
            void* own_planes = nullptr) {
    ranks_ = ranks;
    own_planes_ = static_cast<Complex*>(own_planes);
    TranspositionShape own = shape;
    own.joined = shape.joined || trivial() || own_planes != nullptr;
    joined_ = own.joined;
    pieces_ = TranspositionPieces(ranks.rank(), own, chunks);
    exchange_ = &exchange;
    held_ = held;
    whole_ = shape.planes.items() * shape.columns.items() * shape.run;
    planes_bytes_ = columns_bytes_ = 0;
    if (own_planes != nullptr) return;
    planes_bytes_ = checked_multiply(joined_ ? whole_ * shape.element : pieces_.planes_bytes(), held.arrays, "planes");
    columns_bytes_ = joined_ ? 0 : checked_multiply(pieces_.columns_bytes(), held.arrays, "columns");
    memory.resize(by_planes_, planes_bytes_);
    memory.resize(by_columns_, columns_bytes_);
  }
  // Memory for messages in this direction. Throws as bind does; does not communicate.
  void reserve(bool to_columns) {
    if (trivial()) return;
    for (int slot = 0; slot < held_.slots; ++slot) {
      fill(slot < pieces_.count() ? slot : 0, to_columns, 0, held_.together);
      exchange_->reserve(slot, blocks_);
    }
  }
  const TranspositionPieces& pieces() const { return pieces_; }
  bool trivial() const { return ranks_.size() == 1; }
  std::int64_t bytes() const { return planes_bytes_ + columns_bytes_; }

  // Where both sides lie in one array: what this rank has of the first one.
  void* joined_array() const { return own_planes_ != nullptr ? own_planes_ : by_planes_.data(); }
  std::int64_t joined_bytes() const { return whole_ * static_cast<std::int64_t>(sizeof(Complex)); }
  // Arrays are equally far apart.
  bool adjacent() const { return true; }
  std::int64_t columns_distance() const { return joined_ ? whole_ : pieces_.columns_elements(); }
  Complex* planes_at(std::int64_t place) const {
    if (own_planes_ != nullptr) return own_planes_;
    return at(by_planes_) + (joined_ ? place * whole_ + pieces_.planes_begin() : place * pieces_.planes_elements());
  }
  // Of planes that other ranks have, an address that only kernels understand (gpu::ProgramSet::Ranks).
  Complex* columns_at(std::int64_t place) const {
    if (own_planes_ != nullptr) return own_planes_ - (pieces_.planes_begin() - pieces_.columns_begin());
    return joined_ ? at(by_planes_) + place * whole_ + pieces_.columns_begin()
                   : at(by_columns_) + place * pieces_.columns_elements();
  }
  void open() {}  // others write when they have been told where (peer_writes.h)
  void begin(int slot, int chunk, bool to_columns, std::int64_t place, std::int64_t count) {
    fill(chunk, to_columns, place, count);
    exchange_->begin(slot, blocks_);
  }
  void poll(int slot) { exchange_->poll(slot); }
  void wait(int slot) { exchange_->wait(slot); }

 private:
  void fill(int chunk, bool to_columns, std::int64_t place, std::int64_t count) {
    const TranspositionPiece& piece = pieces_[chunk];
    auto* const planes = reinterpret_cast<char*>(planes_at(place));
    auto* const columns = reinterpret_cast<char*>(columns_at(place));
    const auto in_planes = [&](int rank, const Slice& slice) {
      return DeviceBlock{rank, planes, slice, count, joined_ ? whole_bytes() : pieces_.planes_bytes()};
    };
    const auto in_columns = [&](int rank, const Slice& slice) {
      return DeviceBlock{rank, columns, slice, count, joined_ ? whole_bytes() : pieces_.columns_bytes()};
    };
    blocks_.send.clear(), blocks_.receive.clear();
    for (const TranspositionPair& pair : piece.pairs) {
      const int rank = ranks_.in_all(pair.rank);
      if (!pair.by_planes.empty())
        (to_columns ? blocks_.send : blocks_.receive).push_back(in_planes(rank, pair.by_planes));
      if (!pair.by_columns.empty())
        (to_columns ? blocks_.receive : blocks_.send).push_back(in_columns(rank, pair.by_columns));
    }
    blocks_.own_from = in_planes(0, piece.own_by_planes), blocks_.own_to = in_columns(0, piece.own_by_columns);
    if (!to_columns) std::swap(blocks_.own_from, blocks_.own_to);
  }

  static Complex* at(const DeviceArray& array) { return static_cast<Complex*>(array.data()); }
  std::int64_t whole_bytes() const { return whole_ * static_cast<std::int64_t>(sizeof(Complex)); }

  RankGroup ranks_;
  bool joined_ = false;
  std::int64_t whole_ = 0;  // elements of an array of all planes
  TranspositionMemory held_;
  std::int64_t planes_bytes_ = 0, columns_bytes_ = 0;
  TranspositionPieces pieces_;
  DeviceExchange* exchange_ = nullptr;
  Complex* own_planes_ = nullptr;
  DeviceArray by_planes_, by_columns_;
  DeviceBlocks blocks_;  // kept for their memory
};

}  // namespace fourtune::runtime::distributed
