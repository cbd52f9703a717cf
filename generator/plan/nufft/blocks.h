// Blocks of the nonuniform kernels: their threads and the parts of their shared memory. The rules look at the sizes,
// and the emitters write them into the kernels. "Numbers" are real numbers of the transform's precision.
#pragma once

#include <cstdint>

#include "generator/plan/nufft/choices.h"
#include "generator/plan/nufft/shape.h"

namespace fourtune::generator::nufft {

struct Block {
  int warps = 1;
  int stage = 0;  // numbers staged per point or, where a warp stages its points together, per warp
  std::int64_t shared_bytes = 0;
  int threads() const { return 32 * warps; }
};

// Points whose sums the register windows of interpolation keep for each lane.
inline constexpr int kAtOnce = 16;
// Register windows of both kernels: the tile has tx * ty cells in a plane, and a point stages `weights` numbers in
// front of the tile's weights.
struct WindowBlock : Block {
  int tx = 1, ty = 1, run = 1, split = 1, weights = 0;
};
WindowBlock window_block(const Shape& shape, const Parameters& parameters, bool spreads);

// Spread::points.
struct PointsBlock : Block {
  int numbers = 0;  // weights of a point
};
PointsBlock spread_points_block(const Shape& shape, const Parameters& parameters);

// Spread::tile_owned and tile_atomic: a padded bin, then what the warp stages.
Block spread_tile_block(const Shape& shape, const Parameters& parameters, Spread family);

// Spread::sm: the padded bin of the paper, and the most that it may take there (48 KiB).
std::int64_t published_tile_bytes(const Shape& shape, const Parameters& parameters);
inline constexpr std::int64_t kPublishedShared = 48 * 1024;

// Interpolate::points and tiled.
Block interpolate_block(const Shape& shape, const Parameters& parameters, Interpolate family);

// Interpolate::matrix: kx * ky tiles of 4 x 4 cells.
struct MatrixBlock : Block {
  int kx = 1, ky = 1, row = 1, planes = 0;
};
MatrixBlock matrix_block(const Shape& shape, const Parameters& parameters);

// Spread and Interpolate::tf32x3: a row of a tile has eight cells, of which there are `ty` rows, an even number, in
// eight planes.
inline constexpr int kTf32Cells = 8;
struct Tf32Block : Block {
  int ty = 2;
};
Tf32Block tf32_block(const Shape& shape, const Parameters& parameters, bool spreads);

// `size` transforms at once. A cell of all of them has `pieces` parts of 16 bytes.
struct GroupBlock : Block {
  int pieces = 1, sides = 1;
};
GroupBlock spread_group_block(const Shape& shape, const Parameters& parameters, Spread family, int size);
GroupBlock interpolate_group_block(const Shape& shape, const Parameters& parameters, Interpolate family, int size);
// The copies between the caller's values and a group's.
GroupBlock interleave_block(const Shape& shape, int size);

}  // namespace fourtune::generator::nufft
