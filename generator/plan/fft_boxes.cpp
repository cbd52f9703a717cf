#include "generator/plan/fft_boxes.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fourtune::generator {
namespace {

// Costs per value, in those of an operation of a transform's level: to lanes and back along x (a transposition in
// registers) and along another dimension, and of a level per bit; of a block of lines, in values.
constexpr double kRows32 = 3.5, kColumns32 = 0.5, kRows64 = 6, kColumns64 = 1.4, kBit = 0.85, kBlock = 700;
constexpr double kBeyondL1 = 0.6;
// What small transforms take longer one dimension after the other than these counts say, where groups of boxes are as
// many blocks: on an Intel Xeon, of 40 drawn ones most took 0.6 to 1.0 of the time taken together where the counts said
// 1.0 to 1.4. Larger ones took up to 1.3.
constexpr double kOneByOne = 1.5, kSmallBytes = 256 << 10;
// What as many values take in vectors of half as many lanes, and how many more wide ones would have idle.
constexpr double kNarrow = 1.15, kIdle = 1.4;
constexpr std::int64_t kL1 = 40 << 10, kMost = 384 << 10;  // bytes of what a vector's lanes transform together
constexpr std::int64_t kLines = 64;                        // of a block

double padded(double lines, int lanes) { return std::ceil(lines / lanes) * lanes; }
double bits(std::int64_t n) { return n > 1 ? kBit * std::log2(static_cast<double>(n)) + 1 : 0; }

struct Costs {
  double rows, columns;
};

// What the thread with most of these equal pieces takes, over an equal part of everything. Pieces of steps that threads
// share: where they take whole transforms, a piece is one.
double uneven(double units, const FftBoxShape& shape, bool shared) {
  if (shape.threads == 1) return 1;
  const double pieces = shared ? units : static_cast<double>(shape.batch);
  return std::ceil(pieces / shape.threads) * shape.threads / pieces;
}

double one_by_one(const FftBoxShape& shape, const Costs& cost) {
  double values = static_cast<double>(shape.batch), all = 0;
  for (const std::int64_t size : shape.sizes) values *= static_cast<double>(size);
  for (int d = 0; d < shape.dim; ++d) {
    const std::int64_t n = shape.sizes[static_cast<std::size_t>(d)];
    if (n == 1) continue;
    // The lines of a block are neighbours along the first other dimension.
    std::int64_t across = shape.batch;
    for (int e = shape.dim - 1; e >= 0; --e)
      if (e != d && shape.sizes[static_cast<std::size_t>(e)] > 1) across = shape.sizes[static_cast<std::size_t>(e)];
    const double share = padded(static_cast<double>(across), shape.lanes) / static_cast<double>(across);
    const double lines = values / static_cast<double>(n), vectors = share * lines / shape.lanes;
    all += uneven(vectors, shape, !are_transforms_apart(shape.batch, shape.threads)) *
           (values * share * ((d == 0 ? cost.rows : cost.columns) + bits(n)) +
            kBlock * lines / static_cast<double>(std::min(across, kLines)));
  }
  return all;
}

// The first `split` dimensions together, then the others. split 0 where that is not possible.
struct Pair {
  FftBoxes boxes;
  double cost = 0;
  double values = 0;  // that lanes of the slowest thread are taken by, idle ones included
};
Pair together(const FftBoxShape& shape, int split, const Costs& cost) {
  std::int64_t first = 1, second = 1;
  double first_bits = 0, second_bits = 0;
  for (int d = 0; d < shape.dim; ++d) {
    const std::int64_t n = shape.sizes[static_cast<std::size_t>(d)];
    (d < split ? first : second) *= n;
    (d < split ? first_bits : second_bits) += bits(n);
  }
  const std::int64_t element = std::int64_t{shape.lanes} * shape.value_bytes;
  const std::int64_t largest = std::max(first, split < shape.dim ? second : 1) * element;
  if (first == 1 || largest > kMost || (split < shape.dim && second == 1)) return {};
  FftBoxes one;
  one.split = split, one.lanes = shape.lanes;
  one.beyond_l1 = largest > kL1;
  const double far = one.beyond_l1 ? kBeyondL1 : 0;
  const double lines = static_cast<double>(second) * static_cast<double>(shape.batch);
  // A single step hands out groups of lines, whatever transforms they are of.
  const bool shared = split == shape.dim || !are_transforms_apart(shape.batch, shape.threads);
  one.rows = static_cast<double>(first) * padded(lines, shape.lanes);
  one.row_units = one.blocks = std::ceil(lines / shape.lanes);
  double values = uneven(one.row_units, shape, shared) * one.rows;
  double all = uneven(one.row_units, shape, shared) * (one.rows * (cost.rows + first_bits + far) + kBlock * one.blocks);
  if (split < shape.dim) {
    one.columns = lines * padded(static_cast<double>(first), shape.lanes);
    const double blocks = static_cast<double>(shape.batch) * std::ceil(static_cast<double>(first) / kLines);
    // Threads that share a transform have blocks of fewer lines, but of whole vectors.
    one.column_units = static_cast<double>(shape.batch) * padded(static_cast<double>(first), shape.lanes) / shape.lanes;
    one.blocks += blocks;
    values += uneven(one.column_units, shape, shared) * one.columns;
    all +=
        uneven(one.column_units, shape, shared) * (one.columns * (cost.columns + second_bits + far) + kBlock * blocks);
  }
  return {one, all, values};
}

// Whether lines are so short that FFTW takes them where there are no boxes (runtime's rows.cpp).
bool are_tiny(const FftBoxShape& shape) {
  return shape.value_bytes == 16 &&
         std::all_of(shape.sizes.begin(), shape.sizes.begin() + shape.dim, [](std::int64_t n) { return n <= 20; });
}

// Whether a transform has the same bits dimension by dimension. Odd real lines have not, nor tiny ones, nor lines too
// few for the lanes of a vector (runtime's simd_lines.cpp).
bool have_the_same_bits(const FftBoxShape& shape) {
  for (int d = 0; d < shape.dim; ++d)
    if (4 * shape.sizes[static_cast<std::size_t>(d)] < shape.lanes) return false;
  return !are_tiny(shape) && !shape.odd_real;
}

}  // namespace

FftBoxes fft_boxes(const FftBoxShape& shape) {
  const Costs cost = shape.value_bytes == 8 ? Costs{kRows32, kColumns32} : Costs{kRows64, kColumns64};
  FftBoxes best;
  double least = one_by_one(shape, cost);
  double bytes = shape.value_bytes;
  for (const std::int64_t size : shape.sizes) bytes *= static_cast<double>(size);
  if (bytes <= kSmallBytes && !are_tiny(shape)) least *= kOneByOne;
  if (shape.threads > 1 && !have_the_same_bits(shape)) {
    FftBoxShape alone = shape;
    alone.threads = 1;
    if (fft_boxes(alone).split == 0) return {};
    least = std::numeric_limits<double>::infinity();
  }
  FftBoxShape narrow = shape;
  narrow.lanes /= 2;
  for (int split = 1; split <= shape.dim; ++split) {
    const Pair one = together(shape, split, cost);
    if (one.boxes.split > 0 && one.cost < least) least = one.cost, best = one.boxes;
    if (!shape.narrow) continue;
    // Not for the caches' sake: that depends on what narrow vectors cost here.
    const Pair other = together(narrow, split, cost);
    if (other.boxes.split == 0 || (one.boxes.split > 0 && one.values < kIdle * other.values)) continue;
    if (kNarrow * other.cost < least) least = kNarrow * other.cost, best = other.boxes;
  }
  return best;
}

}  // namespace fourtune::generator
