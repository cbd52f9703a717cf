#include "generator/plan/nufft/blocks.h"

#include <algorithm>

namespace fourtune::generator::nufft {
namespace {

// Bytes that warps share, 200 of 227 KiB on an H200; wide windows leave room for fewer warps.
std::int64_t warps_room(const Shape& shape) { return shape.shared_bytes * 200 / 227; }
// Half of it for Spread::points of a group.
std::int64_t group_warps_room(const Shape& shape) { return warps_room(shape) / 2; }

int divided_up(int a, int b) { return (a + b - 1) / b; }
int rounded_up(int a, int b) { return divided_up(a, b) * b; }
// Numbers in 16 bytes.
int vector_of(const Shape& shape) { return 16 / shape.real_bytes(); }

int fitting_warps(int wanted, std::int64_t bytes_each, std::int64_t room) {
  while (wanted > 1 && wanted * bytes_each > room) wanted /= 2;
  return wanted;
}

// An odd multiple of 16 bytes, so that there are no bank conflicts.
int odd_vectors(const Shape& shape, int numbers) {
  const int vector = vector_of(shape), stage = rounded_up(numbers, vector);
  return stage / vector % 2 == 0 ? stage + vector : stage;
}

// Cells of a padded bin.
std::int64_t padded_bin(const Shape& shape, const Parameters& p) {
  std::int64_t cells = 1;
  for (std::size_t d = 0; d < static_cast<std::size_t>(shape.dim); ++d) cells *= p.bin[d] + shape.width - 1;
  return cells;
}

GroupBlock group_block(const Shape& shape, int size, int numbers) {
  GroupBlock block;
  block.pieces = size * 2 * shape.real_bytes() / 16;
  block.sides = std::max(1, 8 / block.pieces);
  block.stage = odd_vectors(shape, numbers);
  return block;
}

// Sets the number of warps and the memory: a tile of `tile_bytes`, and a part for each warp.
void set_warps(GroupBlock& block, const Shape& shape, int warps, std::int64_t tile_bytes, std::int64_t room) {
  const std::int64_t each = 32ll * block.stage * shape.real_bytes();
  block.warps = fitting_warps(warps, each, room - tile_bytes);
  block.shared_bytes = tile_bytes + block.warps * each;
}

}  // namespace

WindowBlock window_block(const Shape& shape, const Parameters& p, bool spreads) {
  const int w = shape.width, dim = shape.dim, row = dim == 1 ? 1 : w, real = shape.real_bytes();
  WindowBlock block;
  block.warps = p.warps;
  block.run = spreads ? p.run : 1, block.split = spreads ? p.split : 1;
  block.tx = rounded_up(p.bin[0] + w - 1, block.run), block.ty = dim == 3 ? p.bin[1] + w - 1 : 1;
  block.weights = !spreads ? rounded_up(row, vector_of(shape))
                  : p.fold ? rounded_up(row, vector_of(shape)) + 2
                           : 2 * row;
  // 2D spreading stages weights and their place; all other kernels stage a weight for each cell of the tile.
  const int along = dim == 2 && spreads && block.run == 1 ? w + 1 : block.tx + block.ty;
  block.stage = odd_vectors(shape, block.weights + along);
  // Sums of each lane for so many points, and of each warp; the rows of a template say how they lie.
  const std::int64_t rows = spreads ? 0 : 2ll * p.warps * kAtOnce * (32 + 32 / kAtOnce);
  const std::int64_t sums = rows + (!spreads && p.warps > 1 ? 2ll * p.warps * kAtOnce : 0);
  block.shared_bytes = (32ll * block.stage + sums) * real;
  return block;
}

PointsBlock spread_points_block(const Shape& shape, const Parameters& p) {
  const int w = shape.width, real = shape.real_bytes();
  PointsBlock block;
  block.numbers = (shape.dim + 1) * w + (p.run == 2 ? (w + 2) / 2 * 2 - w : 0);
  // A multiple of 16 bytes per warp keeps every warp's part aligned.
  block.stage = rounded_up(block.numbers * 33 + shape.dim * 32 * 4 / real, vector_of(shape));
  const std::int64_t each = static_cast<std::int64_t>(block.stage) * real;
  block.warps = fitting_warps(4, each, warps_room(shape));
  block.shared_bytes = block.warps * each;
  return block;
}

Block spread_tile_block(const Shape& shape, const Parameters& p, Spread family) {
  const bool atomic = family == Spread::tile_atomic;
  const int real = shape.real_bytes();
  Block block;
  block.warps = atomic ? p.warps : 1;
  block.stage = odd_vectors(shape, (shape.dim + 1) * shape.width);
  const std::int64_t tile = (padded_bin(shape, p) * (p.deterministic ? 16 : 2 * real) + 15) / 16 * 16;
  block.shared_bytes = tile + (atomic ? 0 : 32ll * block.stage * real);
  return block;
}

std::int64_t published_tile_bytes(const Shape& shape, const Parameters& p) {
  std::int64_t cells = 1;
  for (std::size_t d = 0; d < static_cast<std::size_t>(shape.dim); ++d)
    cells *= p.bin[d] + 2 * divided_up(shape.width, 2);  // equation 13
  return cells * 2 * shape.real_bytes();
}

Block interpolate_block(const Shape& shape, const Parameters& p, Interpolate family) {
  const bool tiled = family == Interpolate::tiled;
  const int w = shape.width, dim = shape.dim, real = shape.real_bytes(), vector = vector_of(shape);
  const int numbers = p.lanes > 1 ? dim * w * 33 + dim * 32 * 4 / real : dim == 3 ? w * 33 : 0;
  Block block;
  block.stage = rounded_up(numbers, vector);
  const std::int64_t each = static_cast<std::int64_t>(block.stage) * real;
  block.warps = tiled ? p.warps : fitting_warps(p.warps, each, warps_room(shape));
  const std::int64_t tile = tiled ? (padded_bin(shape, p) * 2 + vector - 1) / vector * vector : 0;
  block.shared_bytes = tile * real + block.warps * each;
  return block;
}

MatrixBlock matrix_block(const Shape& shape, const Parameters& p) {
  const int w = shape.width, dim = shape.dim;
  MatrixBlock block;
  block.warps = p.warps;
  block.kx = divided_up(p.bin[0] + w - 1, 4), block.ky = divided_up(p.bin[1] + w - 1, 4);
  block.row = (8 * (block.kx + block.ky) - 2 * w + (dim == 3 ? w : 0)) | 1;  // odd: no bank conflicts
  block.planes = dim == 3 ? w + 2 * p.unroll : 0;
  block.shared_bytes = (static_cast<std::int64_t>(block.planes) * block.kx * block.ky + block.row * p.warps) * 32 * 8;
  return block;
}

Tf32Block tf32_block(const Shape& shape, const Parameters& p, bool spreads) {
  Tf32Block block;
  block.ty = rounded_up(p.bin[1] + shape.width - 1, 2);
  // Values or weights of the planes, weights of x, weights of y.
  block.stage = odd_vectors(shape, kTf32Cells * (spreads ? 4 : 3));
  block.shared_bytes = 32ll * block.stage * shape.real_bytes();
  return block;
}

GroupBlock spread_group_block(const Shape& shape, const Parameters& p, Spread family, int size) {
  const bool tiled = family == Spread::tile_owned;
  GroupBlock block = group_block(shape, size, 2 * size + shape.dim * shape.width);
  // Without a tile the room decides; with one there is one warp.
  set_warps(block, shape, tiled ? 1 : 4, tiled ? padded_bin(shape, p) * block.pieces * 16 : 0, group_warps_room(shape));
  return block;
}

GroupBlock interpolate_group_block(const Shape& shape, const Parameters& p, Interpolate family, int size) {
  const bool tiled = family == Interpolate::tiled;
  const int w = shape.width, dim = shape.dim;
  GroupBlock block = group_block(shape, size, std::max(2 * size, dim * w + (tiled ? 1 : dim)));
  set_warps(block, shape, p.warps, tiled ? padded_bin(shape, p) * block.pieces * 16 : 0, warps_room(shape));
  return block;
}

GroupBlock interleave_block(const Shape& shape, int size) { return group_block(shape, size, 1); }

}  // namespace fourtune::generator::nufft
