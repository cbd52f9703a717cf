// Locates nonuniform points on the fine grid and groups them by tiles.
#pragma once

#include <array>
#include <cstdint>

#include "runtime/cpu/buffer.h"
#include "runtime/cpu/gridder.h"
#include "runtime/cpu/gridder_kernels.h"
#include "runtime/cpu/gridder_layout.h"

namespace fourtune::runtime::cpu {

enum class PointOrder {
  caller,    // records in the caller's order, with the tile of each point
  permuted,  // records grouped by tile; with `local` in 3D, pieces of a tile are ordered by x-bin and z
  indexed,   // records in the caller's order, and an index that is grouped by tile
  listed,    // records in the caller's order, and per tile a static linked list: head[tile], next[point], -1 ends
};

template <class T>
class PointStore {
 public:
  // Two passes over the caller's arrays, count and place, each in parallel over equal shares. The grouping does not
  // depend on the number of threads. Throws Error{invalid_point} with the first bad index and its dimension.
  void set(std::int64_t m, const std::array<const T*, 3>& points, const PointMap& map, const Tiling& tiling,
           PointOrder order, bool local, int threads, const Kernels<T>& kernels);

  std::int64_t size() const { return m_; }
  PointOrder order() const { return order_; }
  int words() const { return words_; }
  const Word<T>* record(std::int64_t position) const { return records_.data() + position * words_; }
  std::int64_t index_of(const Word<T>* record) const {
    if constexpr (sizeof(T) == 4) {
      const std::int64_t low = record[words_ - 1];
      if (high_.size() == 0) return low;
      return low | std::int64_t{high_[(record - records_.data()) / words_]} << 32;
    } else {
      return static_cast<std::int64_t>(record[words_ - 1] >> kIndexShift);
    }
  }
  int x_cell(const Word<T>* record) const {
    if constexpr (sizeof(T) == 4) {
      return static_cast<int>(record[0] >> kFractionBits);
    } else {
      return static_cast<int>(record[words_ - 1] & 0xff);
    }
  }
  int z_cell(const Word<T>* record) const {
    if constexpr (sizeof(T) == 4) {
      return static_cast<int>(record[2] >> kFractionBits);
    } else {
      return static_cast<int>(record[words_ - 1] >> (2 * kCellBits) & 0xff);
    }
  }
  // Point at a grouped position (indexed order).
  std::int64_t indexed(std::int64_t position) const {
    return wide_index_.size() > 0 ? wide_index_[position] : std::int64_t{index_[position]};
  }
  std::int64_t tile_of(std::int64_t point) const { return tile_of_[point]; }
  std::int64_t head(std::int64_t tile) const { return head_[tile]; }
  std::int64_t next(std::int64_t point) const { return next_[point]; }

  // First grouped position of a tile (permuted and indexed); tile_start(tiles) is size().
  std::int64_t tile_start(std::int64_t tile) const { return starts_[tile]; }
  std::int64_t bytes() const;

  static constexpr int kIndexShift = 3 * kCellBits;  // f64: index above the cells
 private:
  struct Chunk;  // one block of located points, see sort.cpp
  void locate(std::int64_t first, int n, const std::array<const T*, 3>& points, bool fractions, Chunk& chunk) const;
  template <int Dim>
  void write_records(const Chunk& chunk, int n, std::int64_t first, const std::int64_t* position);
  void write_records(const Chunk& chunk, int n, std::int64_t first, const std::int64_t* position);
  void count_keys(const std::array<const T*, 3>& points, int threads);
  void place(const std::array<const T*, 3>& points, int threads);
  void order_pieces(int threads);
  void link();

  std::int64_t m_ = 0;
  int words_ = 2;
  PointOrder order_ = PointOrder::permuted;
  Tiling tiling_;
  std::array<Axis, 3> axes_{};
  std::array<double, 3> inverse_tile_{};
  const Kernels<T>* kernels_ = nullptr;

  Buffer<Word<T>> records_;
  Buffer<std::uint8_t> high_;         // f32 only: index bits 32..39 when m > 2^32
  Buffer<std::uint32_t> index_;       // indexed, m <= 2^32
  Buffer<std::int64_t> wide_index_;   // indexed, beyond
  Buffer<std::int32_t> tile_of_;      // caller, listed
  Buffer<std::int64_t> head_, next_;  // listed
  Buffer<std::int64_t> counts_;       // threads x keys, then places
  Buffer<std::int64_t> starts_;       // first position of every tile, tiles + 1
};

}  // namespace fourtune::runtime::cpu
