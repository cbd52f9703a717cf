// Decides which thread may write where and when: subproblems, tile colours and tile locks.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/backends/cpu/base/waiting.h"
#include "runtime/backends/cpu/gridder/layout.h"

namespace fourtune::runtime::cpu {

// A run of consecutive points (in grouped order) of one tile. For lists (PointOrder::listed) begin == end.
struct Subproblem {
  std::int64_t tile = 0, begin = 0, end = 0;
  std::int32_t part = 0;  // 0, 1, ... within the tile
};

// Colours of tiles: two tiles of one colour have disjoint padded tiles, also across the period's boundary. There are
// 2^dim colours where tiles are wide enough and even in number, a few more otherwise.
class TileColours {
 public:
  explicit TileColours(const Tiling& tiling);
  int count() const { return per_dimension_[0] * per_dimension_[1] * per_dimension_[2]; }
  int colour(std::int64_t tile) const;

 private:
  Tiling tiling_;
  int per_dimension_[3] = {1, 1, 1};
  std::vector<std::int32_t> colour_[3];
};

// One lock per tile. Writing a padded tile takes the locks of all tiles that it overlaps, in ascending order.
class TileLocks {
 public:
  explicit TileLocks(const Tiling& tiling);
  // `tiles` is scratch and receives the tiles that were locked.
  void lock(std::int64_t tile, std::vector<std::int64_t>& tiles);
  void unlock(const std::vector<std::int64_t>& tiles);
  std::int64_t bytes() const { return tiling_.tiles() * static_cast<std::int64_t>(sizeof(SmallLock)); }

 private:
  Tiling tiling_;
  std::unique_ptr<SmallLock[]> locks_;
};

}  // namespace fourtune::runtime::cpu
