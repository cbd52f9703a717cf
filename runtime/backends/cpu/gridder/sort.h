// Locates nonuniform points on the fine grid and groups them by tiles.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "runtime/backends/cpu/base/buffer.h"
#include "runtime/backends/cpu/gridder/gridder.h"
#include "runtime/backends/cpu/gridder/kernels.h"
#include "runtime/backends/cpu/gridder/layout.h"
#include "runtime/backends/cpu/gridder/record.h"

namespace fourtune::runtime::cpu {

enum class PointOrder {
  caller,    // records in the caller's order, with the tile of each point
  permuted,  // records grouped by tile; with `local` in 3D, within a tile by x-bin (and a few planes)
  indexed,   // records in the caller's order, and an index grouped by tile
  listed,    // records in the caller's order, and per tile a static linked list: head[tile], next[point], ended by -1
  raw,  // one dimension: the coordinates in the caller's order, which are located block by block when they are used
};

struct PointGrouping {
  PointOrder order = PointOrder::permuted;
  bool local = false;  // permuted, 3D: group within tiles too
  int fraction = 0;    // bits that positions need, see gridder/record.h
  int threads = 1;
  std::span<std::byte> lent = {};  // memory that may be overwritten meanwhile, at a cache line
  bool to_spread = false;          // not to interpolate: grouping within tiles needs more points to pay
  bool same_order = false;         // of the points in a tile, whatever the number of threads
  bool pairs = false;              // permuted, 2D: group within tiles for GridderKernels::spread_pairs
};

template <class T>
class PointStore {
 public:
  // Makes two passes over the points, count and place, each in parallel over equal shares. As many as the lent memory
  // has room for, and few points always, are located once and kept in between; both passes locate the others. What
  // lies in a tile depends neither on that nor on the number of threads. Throws Error{invalid_point} with the first bad
  // index and its dimension.
  void set(std::int64_t m, const std::array<const T*, 3>& points, const PointMap& map, const Tiling& tiling,
           const PointGrouping& grouping, const GridderKernels<T>& kernels);

  std::int64_t size() const { return m_; }
  PointOrder order() const { return order_; }
  const RecordForm& form() const { return form_; }
  const std::uint32_t* record(std::int64_t position) const { return records_.data() + position * form_.words; }
  // The point at a grouped position (indexed order).
  std::int64_t indexed(std::int64_t position) const {
    return wide_index_.size() > 0 ? wide_index_[position] : std::int64_t{index_[position]};
  }
  std::int64_t tile_of(std::int64_t point) const { return tile_of_[point]; }
  // Writes the tile in which set() puts each point, and keeps nothing. Throws as set() does.
  void find_tiles(std::int64_t m, const std::array<const T*, 3>& points, const PointMap& map, const Tiling& tiling,
                  const PointGrouping& grouping, const GridderKernels<T>& kernels, std::int32_t* tile);
  // Raw order: locates n <= kChunk points; chunk.word[0] are their records.
  void locate_raw(std::int64_t first, int n, Located& chunk) const {
    kernels_->locate(frame_, &form_, {coordinates_.data() + first, nullptr, nullptr}, first, n, chunk);
  }
  std::int64_t head(std::int64_t tile) const { return head_[tile]; }
  std::int64_t next(std::int64_t point) const {
    return wide_next_.size() > 0 ? wide_next_[point] : std::int64_t{next_[point]};
  }

  // The first grouped position of a tile (permuted and indexed); tile_start(tiles) is size().
  std::int64_t tile_start(std::int64_t tile) const { return starts_[tile]; }
  std::int64_t bytes() const;

  // Whether points are ordered for GridderKernels::spread_pairs.
  bool in_pairs() const { return frame_.tiling.dim == 2 && frame_.inner.keys() > 1; }

 private:
  // least_of_key: with fewer points for a key, points are not grouped within tiles; 0: never.
  void prepare(const PointMap& map, const Tiling& tiling, std::int64_t least_of_key, int fraction);
  bool prepare_fixed(int d);
  void begin(std::int64_t m, const PointGrouping& grouping, const GridderKernels<T>& kernels);
  bool locate(std::int64_t first, int n, const std::array<const T*, 3>& points, bool records, Located& chunk) const;
  [[noreturn]] void refuse(const std::array<const T*, 3>& points, std::int64_t first);
  // `bad`: for each thread the first point of the chunk that has one, or -1.
  void refuse_any(const std::array<const T*, 3>& points, const std::vector<std::int64_t>& bad);
  void write(const Located& chunk, int n, const std::int64_t* position);
  void keep_order(const std::array<const T*, 3>& points, int threads);
  void copy_raw(const std::array<const T*, 3>& points, int threads);
  void keep_located(std::span<std::byte> lent, int threads);
  // The memory for a thread's i-th chunk; null where it is not kept.
  Located* kept(std::int64_t thread, std::int64_t i) const {
    if (i >= kept_of_thread_) return nullptr;
    return reinterpret_cast<Located*>(located_ + (thread * kept_of_thread_ + i) * bytes_of_located(form_.words));
  }
  // Counter: std::uint32_t for fewer than 2^32 points, as they leave more of the first-level cache to the records.
  template <class Counter>
  Buffer<Counter>& counts() {
    if constexpr (std::is_same_v<Counter, std::uint32_t>)
      return counts_;
    else
      return wide_counts_;
  }
  template <class Counter>
  void group(const std::array<const T*, 3>& points, int threads);
  template <class Counter>
  void count_keys(const std::array<const T*, 3>& points, int threads);
  template <class Counter>
  void find_places(std::int64_t t, int threads, Counter* next);
  template <class Counter>
  void place(const std::array<const T*, 3>& points, int threads);
  void link();

  std::int64_t keys() const { return frame_.tiling.tiles() * frame_.inner.keys(); }
  std::int64_t counters_of_thread() const;

  std::int64_t m_ = 0;
  PointOrder order_ = PointOrder::permuted;
  bool by_key_ = false;  // points of different threads lie together by key, else by tile
  RecordForm form_;
  Frame frame_;
  const GridderKernels<T>* kernels_ = nullptr;

  Buffer<T> coordinates_;  // raw
  Buffer<std::uint32_t> records_;
  Buffer<std::uint32_t> index_;      // indexed, m < 2^32
  Buffer<std::int64_t> wide_index_;  // indexed, m >= 2^32
  Buffer<std::int32_t> tile_of_;     // caller, listed
  Buffer<std::int64_t> head_;        // listed
  Buffer<std::int32_t> next_;        // listed, m < 2^31
  Buffer<std::int64_t> wide_next_;   // listed, m >= 2^31
  Buffer<std::uint32_t> counts_;     // m < 2^32: for each thread a histogram and next places, once more histograms
  Buffer<std::int64_t> wide_counts_;
  Buffer<std::int64_t> starts_;   // first position of every tile, tiles + 1
  std::byte* located_ = nullptr;  // while points are set: the first chunks of every thread
  std::int64_t kept_of_thread_ = 0;
  Buffer<std::byte> own_located_;  // their memory where none was lent; empty outside set
};

}  // namespace fourtune::runtime::cpu
