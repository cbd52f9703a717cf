// Rows of arrays in GPUs' memory that move between ranks.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/distributed/transposition_pieces.h"

namespace fourtune::runtime::distributed {

// Rows of `count` arrays, `distance` bytes apart, for or from a rank.
struct DeviceBlock {
  int rank = 0;
  char* array = nullptr;
  Slice slice;
  std::int64_t count = 1, distance = 0;
  bool gapless() const { return count == 1 && slice.gapless(); }
  std::int64_t bytes() const { return count * slice.size(); }
};

// What a chunk sends and gets, none of it empty, and what moves within this rank (equal rows; maybe empty).
struct DeviceBlocks {
  std::vector<DeviceBlock> send, receive;
  DeviceBlock own_from, own_to;
};

}  // namespace fourtune::runtime::distributed
