// Deterministic spreading on the emulated backend: the same bits in every order, and sums that lose nothing.
#include <gtest/gtest.h>

#include "tests/generator/nufft_support.h"

namespace fourtune::generator::nufft::testing {
namespace {

std::vector<Case> deterministic_cases() {
  std::vector<Case> cases;
  for (const int dim : {1, 2, 3})
    for (const Precision precision : {Precision::f32, Precision::f64})
      for (const Spread family : {Spread::points, Spread::tile_atomic, Spread::tile_owned}) {
        Case c = spreading("Fixed" + std::to_string(static_cast<int>(family)), dim, precision, 4 + dim, family);
        c.parameters.deterministic = true;
        c.parameters.placement = dim == 2 ? Placement::two_level : Placement::scatter;
        c.transforms = dim == 1 ? 2 : 1;
        if (dim == 3 && family == Spread::points) c.parameters.order = RecordOrder::caller;
        if (dim == 2) c.points = Points::clustered;
        c.parameters.twice = dim == 1 || (dim == 3 && precision == Precision::f64);
        cases.push_back(c);
      }
  return cases;
}
class NufftDeterministic : public ::testing::TestWithParam<Case> {};

TEST_P(NufftDeterministic, GivesTheSameBitsInEveryOrderOfBlocksAndThreads) {
  const Case& c = GetParam();
  const Prepared p = prepare(c);
  auto program = compiled_quickly(p.program);
  std::vector<std::byte> seen;
  for (const std::uint64_t seed : {0u, 1u, 2u, 3u}) {
    RunOptions options;
    options.threads = options.blocks = seed == 0   ? runtime::emulated::ExecutionOrder::forward
                                       : seed == 1 ? runtime::emulated::ExecutionOrder::reverse
                                                   : runtime::emulated::ExecutionOrder::random;
    options.seed = seed + 1;
    std::vector<std::byte> first = p.first, second = p.second;
    program.run(first, second, options);
    EXPECT_EQ(wrong(c, p, second), "");
    if (!seen.empty()) {
      EXPECT_EQ(second, seen);
    }
    seen = second;
  }
}
// One strength is 2^40 times the others, so the unit of its sums is larger than a thousandth of theirs. Cells that it
// does not reach show what they have lost.
TEST(NufftDeterministic, TwiceKeepsWhatTheUnitLeavesOut) {
  for (const Spread family : {Spread::points, Spread::tile_atomic, Spread::tile_owned})
    for (const bool twice : {false, true}) {
      Case c = spreading("Twice", 2, Precision::f64, 7, family);
      c.parameters.deterministic = true, c.parameters.twice = twice;
      c.points = Points::spot;
      const Prepared p = prepare(c);
      const auto points = make_points(c);
      auto program = compiled_quickly(p.program);
      const auto spread = [&](Complex strength) {
        std::vector<Complex> values = unpacked(p.first, Precision::f64);
        values[0] = strength;
        std::vector<std::byte> first = packed_complex(values, Precision::f64), second = p.second;
        program.run(first, second, {});
        return unpacked(second, Precision::f64);
      };
      std::vector<Complex> with = spread({0x1p40, -0x1p40}), without = spread(0);
      const Window& window = window_of(c.shape.width);
      const Reached x = reached(points[0][0], 45, window), y = reached(points[1][0], 38, window);
      for (const int row : y.cell)
        for (const int column : x.cell) {
          const auto cell = 45 * static_cast<std::size_t>(row) + static_cast<std::size_t>(column);
          with[cell] = without[cell] = 0;
        }
      const double error = distance(with, without);
      if (twice)
        EXPECT_LE(error, 1e-11) << static_cast<int>(family);
      else
        EXPECT_GE(error, 1e-5) << static_cast<int>(family) << ": the case must be one that a single sum cannot do";
    }
}
INSTANTIATE_TEST_SUITE_P(All, NufftDeterministic, ::testing::ValuesIn(deterministic_cases()), name_of);

}  // namespace
}  // namespace fourtune::generator::nufft::testing
