#include "generator/plan/fft_boxes.h"

#include <algorithm>
#include <cmath>

namespace fourtune::generator {
namespace {

// Costs per value, in those of an operation of a transform's level: to lanes and back along x (a transposition in
// registers) and along another dimension, and of a level per bit; of a block of lines, in values.
constexpr double kRows32 = 3.5, kColumns32 = 0.5, kRows64 = 6, kColumns64 = 1.4, kBit = 0.85, kBlock = 700;
constexpr double kBeyondL1 = 0.6;
constexpr std::int64_t kL1 = 40 << 10, kMost = 384 << 10;  // bytes of what a vector's lanes transform together
constexpr std::int64_t kLines = 64;                        // of a block

double padded(double lines, int lanes) { return std::ceil(lines / lanes) * lanes; }
double bits(std::int64_t n) { return n > 1 ? kBit * std::log2(static_cast<double>(n)) + 1 : 0; }

struct Costs {
  double rows, columns;
};

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
    all += values * share * ((d == 0 ? cost.rows : cost.columns) + bits(n));
    all += kBlock * values / static_cast<double>(n * std::min(across, kLines));
  }
  return all;
}

}  // namespace

FftBoxes fft_boxes(const FftBoxShape& shape) {
  const Costs cost = shape.value_bytes == 8 ? Costs{kRows32, kColumns32} : Costs{kRows64, kColumns64};
  FftBoxes best;
  double least = one_by_one(shape, cost);
  for (int split = 1; split <= shape.dim; ++split) {
    std::int64_t first = 1, second = 1;
    double first_bits = 0, second_bits = 0;
    for (int d = 0; d < shape.dim; ++d) {
      const std::int64_t n = shape.sizes[static_cast<std::size_t>(d)];
      (d < split ? first : second) *= n;
      (d < split ? first_bits : second_bits) += bits(n);
    }
    const std::int64_t element = std::int64_t{shape.lanes} * shape.value_bytes;
    const std::int64_t largest = std::max(first, split < shape.dim ? second : 1) * element;
    if (first == 1 || largest > kMost || (split < shape.dim && second == 1)) continue;
    FftBoxes one;
    one.split = split;
    one.beyond_l1 = largest > kL1;
    const double lines = static_cast<double>(second) * static_cast<double>(shape.batch);
    one.rows = static_cast<double>(first) * padded(lines, shape.lanes);
    one.units = one.blocks = std::ceil(lines / shape.lanes);
    double all = one.rows * (cost.rows + first_bits);
    if (split < shape.dim) {
      one.columns = lines * padded(static_cast<double>(first), shape.lanes);
      const double blocks = static_cast<double>(shape.batch) * std::ceil(static_cast<double>(first) / kLines);
      // Threads that share a transform have blocks of fewer lines, but of whole vectors.
      one.units = std::min(
          one.units, static_cast<double>(shape.batch) * padded(static_cast<double>(first), shape.lanes) / shape.lanes);
      one.blocks += blocks;
      all += one.columns * (cost.columns + second_bits);
    }
    all += kBlock * one.blocks;
    if (one.beyond_l1) all += kBeyondL1 * (one.rows + one.columns);
    if (all < least) least = all, best = one;
  }
  return best;
}

}  // namespace fourtune::generator
