// The memory layout of located points and private tiles, shared by sorting, spreading and interpolation.
//
// Invariants
// 1. A point is stored as its first touched cell i0 = ceil(u - w/2), folded into [0, fine), and f = i0 - (u - w/2) in
//    [0, 1]: the argument of the window's polynomial pieces is z = 2 f - 1. A window therefore extends only to the
//    right.
// 2. The fine grid is cut into tiles of `tile` cells per side (the last one of a dimension may be smaller). A point
//    belongs to the tile of its first cell; it touches at most the padded tile of tile + width - 1 cells per side.
// 3. Records are described in gridder/record.h.
// 4. A private tile is stored by x-bins: bin b starts at x cell b * bin, holds the windows that start in its `bin`
//    cells and has `slots` complex elements per row. slots >= bin + width - 1 is a whole number of 64-byte lines, so
//    every update of a row is aligned and full. Element (b, z, y, slot) is at ((b * padded_z + z) * padded_y + y) *
//    slots + slot.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "generator/plan/private_tile.h"

namespace fourtune::runtime::cpu {

inline constexpr int kMaxTile = 256;     // cells per side
inline constexpr int kBlockPoints = 64;  // points whose weights are evaluated together
inline constexpr int kLine = generator::kLineBytes;
inline constexpr int kPairRows = 3;  // rows between two points that are spread together, at most

// 3D windows are processed slab by slab, kSlabPlanes planes of all points of a block, where the rows of one point
// exceed so many bytes: a slab stays in the first-level cache, the rows of a point do not (docs/design/cpu-choices.md).
inline constexpr int kSlabBytes = 20 * 1024, kSlabPlanes = 4;
constexpr bool by_slabs(int dim, int width, int complex_bytes) {
  return dim == 3 && width * width * generator::row_slots(width, complex_bytes) * complex_bytes > kSlabBytes;
}

struct Tiling {
  int dim = 1;
  int width = 2;
  std::array<std::int64_t, 3> fine{1, 1, 1};
  std::array<int, 3> tile{1, 1, 1};
  std::array<std::int64_t, 3> count{1, 1, 1};  // tiles per dimension
  std::array<int, 3> padded{1, 1, 1};          // cells per side of the padded tile
  int slots = 8;
  int bin = 1;
  int bins = 1;  // x-bins per tile

  std::int64_t tiles() const { return count[0] * count[1] * count[2]; }
  std::int64_t rows() const { return std::int64_t{padded[1]} * padded[2]; }
  std::int64_t private_elements() const { return bins * rows() * slots; }
  // Cells per side of the padded tile at `origin`: the last tile of a dimension may be smaller than the others, and
  // only these cells may be written.
  std::array<int, 3> extent(const std::array<std::int64_t, 3>& origin) const {
    std::array<int, 3> e{1, 1, 1};
    for (int d = 0; d < dim; ++d)
      e[d] = static_cast<int>(std::min<std::int64_t>(tile[d], fine[d] - origin[d])) + width - 1;
    return e;
  }
  std::array<std::int64_t, 3> position(std::int64_t t) const {
    if (dim == 1) return {t, 0, 0};
    // There are fewer than 2^31 tiles (checked when bound), and 32-bit divisions are several times faster.
    const auto i = static_cast<std::uint32_t>(t), nx = static_cast<std::uint32_t>(count[0]);
    const auto ny = static_cast<std::uint32_t>(count[1]), row = i / nx;
    return {i - row * nx, row % ny, row / ny};
  }
  std::array<std::int64_t, 3> origin(std::int64_t t) const {
    const auto p = position(t);
    return {p[0] * tile[0], p[1] * tile[1], p[2] * tile[2]};
  }
};

using generator::row_slots;

inline Tiling make_tiling(int dim, const std::array<std::int64_t, 3>& fine, int width, const std::array<int, 3>& tile,
                          int complex_bytes) {
  Tiling t;
  t.dim = dim;
  t.width = width;
  for (int d = 0; d < dim; ++d) {
    t.fine[d] = fine[d];
    t.tile[d] = static_cast<int>(std::min<std::int64_t>(std::clamp(tile[d], 1, kMaxTile), fine[d]));
    t.count[d] = (fine[d] + t.tile[d] - 1) / t.tile[d];
    t.padded[d] = t.tile[d] + width - 1;
  }
  t.slots = row_slots(width, complex_bytes);
  t.bin = generator::bin_cells(width, complex_bytes);
  t.bins = (t.tile[0] + t.bin - 1) / t.bin;
  return t;
}

}  // namespace fourtune::runtime::cpu
