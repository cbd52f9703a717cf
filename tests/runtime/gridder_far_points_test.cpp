// Coordinates far outside one period: every finite number counts as exact and is folded exactly, with every instruction
// set and every way of locating points.
#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cmath>
#include <limits>
#include <random>

#include "fourtune/status.h"
#include "runtime/backends/cpu/gridder/turns.h"
#include "tests/runtime/forced_targets.h"
#include "tests/runtime/gridder_reference.h"
#include "tuner/reference/phase.h"

namespace fourtune::runtime::cpu {
namespace {

constexpr std::int64_t kSets[] = {HWY_SCALAR, HWY_AVX2 | HWY_SCALAR, HWY_AVX3 | HWY_AVX2 | HWY_SCALAR};

// Points of magnitudes 10^low to 10^high, and the same in turns, reduced like the reference sums with all digits.
template <class T>
struct FarPoints {
  Points<T> points;
  Points<double> turns;
  FarPoints(int dim, int low, int high, std::int64_t m) {
    std::mt19937_64 random(static_cast<unsigned>(low + 400 * dim));
    std::uniform_real_distribution<double> exponent(low, high), sign(-1, 1);
    for (int d = 0; d < dim; ++d) {
      for (std::int64_t j = 0; j < m; ++j) {
        const T x = static_cast<T>(std::copysign(std::pow(10.0, exponent(random)), sign(random)));
        points.c[d].push_back(j == 0 && high > 37 ? std::numeric_limits<T>::max() : x);
        turns.c[d].push_back(tuner::fold_turns(static_cast<double>(points.c[d].back())).hi);
      }
    }
  }
};

template <class T>
void expect_folded(int dim, int low, int high, bool odd_tiles) {
  GridderSpec spec = make_spec(dim, small_grid(dim), 6, sizeof(std::complex<T>));
  if (odd_tiles) spec.sort.tile = {15, 9, 7};  // located without fixed point
  const std::int64_t m = 131, n = spec.grid.elements;
  const FarPoints<T> far(dim, low, high, m);
  const Reference<T> reference(spec, far.turns, {{0, 0, 0}, {1, 1, 1}});
  const auto values = random_values<T>(m, 1), cells = random_values<T>(n, 2);
  const auto want_grid = reference.spread(values.data(), nullptr);
  const auto want_values = reference.interpolate(cells.data(), nullptr);
  for (const std::int64_t targets : kSets) {
    if (!can_run(targets)) continue;
    const ForcedTargets forced(targets);
    auto gridder = make_gridder<T>(spec);
    gridder->set_points(m, far.points.data(0, dim), far.points.data(1, dim), far.points.data(2, dim), radians());
    std::vector<std::complex<T>> grid(n), out(m);
    gridder->spread(values.data(), m, nullptr, grid.data(), n, 1);
    gridder->interpolate(cells.data(), n, nullptr, out.data(), m, 1);
    const double allowed = sizeof(T) == 4 ? 2e-6 : 5e-14;
    EXPECT_LT(relative_error(grid.data(), want_grid), allowed) << dim << "D from 1e" << low << " " << odd_tiles;
    EXPECT_LT(relative_error(out.data(), want_values), allowed) << dim << "D from 1e" << low << " " << odd_tiles;
  }
}

TEST(GridderFarPoints, SinglePrecisionIsFoldedAsTheExactNumbersThatItHas) {
  for (int low = 2; low < 38; low += 2)
    for (const bool odd_tiles : {false, true}) expect_folded<float>(1 + low % 3, low, low + 2, odd_tiles);
}

TEST(GridderFarPoints, DoublePrecisionIsFoldedUpToItsLastNumber) {
  for (int low = 2; low < 308; low += low < 24 ? 2 : 23)
    for (const bool odd_tiles : {false, true})
      expect_folded<double>(1 + low % 3, low, std::min(low + 3, 308), odd_tiles);
}

// 10^6 radians are 2^17 turns, which f32 represents exactly; a fine grid of 2^21 cells reveals a factor of only 53
// bits.
TEST(GridderFarPoints, ALargeGridSeesTheDigitsBehindTheFactors) {
  GridderSpec spec = make_spec(1, {1 << 21, 1, 1}, 4, 8);
  spec.sort.tile = {256, 1, 1};
  const FarPoints<float> far(1, 5, 6, 300);
  const Reference<float> reference(spec, far.turns, {{0, 0, 0}, {1, 1, 1}});
  auto gridder = make_gridder<float>(spec);
  gridder->set_points(300, far.points.data(0, 1), nullptr, nullptr, radians());
  const auto values = random_values<float>(300, 1);
  std::vector<std::complex<float>> grid(spec.grid.elements);
  gridder->spread(values.data(), 0, nullptr, grid.data(), 0, 1);
  EXPECT_LT(relative_error(grid.data(), reference.spread(values.data(), nullptr)), 1e-6);
}

// Maps other than radians have no table of digits: far points stay inside the grid, whatever their meaning.
TEST(GridderFarPoints, OtherMapsStayInTheGrid) {
  for (const std::int64_t targets : kSets) {
    if (!can_run(targets)) continue;
    const ForcedTargets forced(targets);
    for (const bool odd_tiles : {false, true}) {
      GridderSpec spec = make_spec(2, small_grid(2), 5, 16);
      if (odd_tiles) spec.sort.tile = {15, 9, 1};
      const FarPoints<double> far(2, 14, 300, 500);
      auto gridder = make_gridder<double>(spec);
      gridder->set_points(500, far.points.data(0, 2), far.points.data(1, 2), nullptr, {{0.3, -7, 0}, {0.11, 0.7, 0}});
      std::vector<std::complex<double>> ones(500, 1.0), grid(spec.grid.elements);
      gridder->spread(ones.data(), 0, nullptr, grid.data(), 0, 1);
      double sum = 0;
      for (const auto& cell : grid) sum += cell.real();
      EXPECT_GT(sum, 0);
      EXPECT_TRUE(std::isfinite(sum));
    }
  }
}

TEST(GridderFarPoints, FoldingAgreesWithTheReferencesOwn) {
  std::mt19937_64 random(11);
  std::uniform_real_distribution<double> exponent(42, 1024);
  for (int i = 0; i < 20000; ++i) {
    const double x = std::copysign(std::exp2(exponent(random)), i % 2 == 0 ? 1 : -1);
    if (!std::isfinite(x)) continue;
    const Turns got = fold_radians(x);
    const tuner::Turns want = tuner::fold_turns(x);
    EXPECT_LE(std::abs((got.high - want.hi) + (got.low - want.lo)), 0x1p-104) << x;
    EXPECT_LE(std::abs(got.high), 0.5);
  }
}

}  // namespace
}  // namespace fourtune::runtime::cpu
