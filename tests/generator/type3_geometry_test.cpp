// Grids of type 3: their parts and sizes for many space-bandwidth products.
#include "generator/plan/type3_geometry.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <utility>

namespace fourtune::generator {
namespace {

// "part" is what the backends ask for when they lay a grid out: a grid that is held whole begins with position 0, a
// part of it has position 0 in the middle. A whole grid that called itself a part gave wrong results on GPUs.
TEST(Type3Geometry, APartHoldsFewerCellsThanTheGridAndAWholeGridAllOfThem) {
  int parts = 0, wholes = 0;
  for (const double sigma : {1.1, 1.25, 1.35, 1.4, 1.5, 1.75, 2.0, 3.0})
    for (int width = 2; width <= kMaxWidth; ++width)
      for (double product = 0.1; product < 200; product *= 1.07) {
        Plan plan;
        plan.window = WindowChoice{WindowKind::pswf, sigma, 6, {0, 0, 0}, 0};
        plan.inner = WindowChoice{WindowKind::pswf, 1.25, width, {0, 0, 0}, 0};
        const Type3Dimension grid = type3_dimension(plan, {0, product}, {0, 1}, {});
        ASSERT_EQ(grid.part, grid.held < grid.inner) << sigma << " " << width << " " << product;
        ASSERT_LE(grid.held, grid.inner);
        ASSERT_LE(grid.outer, grid.inner);
        ++(grid.part ? parts : wholes);
      }
  EXPECT_GT(parts, 1000);
  EXPECT_GT(wholes, 1000);
}

// What lies within the least numbers, or reaches to great ones, must not make a centre, a spacing or its reciprocal
// overflow.
TEST(Type3Geometry, IsFiniteForTheLeastAndTheGreatestNumbers) {
  constexpr double kLeast = std::numeric_limits<double>::denorm_min(), kMost = std::numeric_limits<double>::max();
  EXPECT_EQ(type3_interval(kMost, kMost).centre, kMost);
  EXPECT_EQ(type3_interval(kMost, kMost).half, 0);
  EXPECT_EQ(type3_interval(-kMost, kMost).half, kMost);
  EXPECT_GE(type3_interval(-kLeast, kLeast).half, kLeast);
  EXPECT_EQ(type3_interval(1, 4).centre, 2.5);
  EXPECT_EQ(type3_interval(1, 4).half, 1.5);
  const double halves[] = {0, kLeast, 1e-310, 1e-200, 1, 1e200, 1e306};
  for (const Type3Rule rule : {Type3Rule::compose, Type3Rule::gaussian})
    for (const double source : halves)
      for (const double target : halves) {
        if (source > 0 && target > 0 && std::log10(source) + std::log10(target) > 3) continue;  // a larger grid
        SCOPED_TRACE(std::to_string(std::log10(source)) + " " + std::to_string(std::log10(target)));
        Plan plan;
        plan.type3 = rule;
        plan.gaussian_r = 3;
        plan.window = plan.inner = WindowChoice{WindowKind::pswf, 1.25, 6, {0, 0, 0}, 0};
        GaussianRule gaussian;
        gaussian.b = 0.5, gaussian.width = 21;
        const Type3Dimension grid = type3_dimension(plan, {0, source}, {0, target}, gaussian);
        EXPECT_TRUE(std::isfinite(grid.spacing) && std::isfinite(1 / grid.spacing)) << grid.spacing;
        EXPECT_LE(2 * source / grid.spacing, static_cast<double>(grid.outer)) << "sources fit the grid";
        EXPECT_LE(grid.spacing * target, std::numbers::pi / 1.25 * 1.0000001) << "targets fit the band";
      }
}

// Equations of the Gaussian rule: h = pi / (r s), and 2 (x s r^2 / pi + 2 pi r b) cells.
TEST(Type3Geometry, TheGaussianGridFollowsThePaper) {
  Plan plan;
  plan.type3 = Type3Rule::gaussian;
  plan.gaussian_r = 2.5;
  GaussianRule rule;
  rule.b = 0.5, rule.width = 21;
  const Type3Dimension grid = type3_dimension(plan, {0, 30}, {0, 10}, rule);
  EXPECT_DOUBLE_EQ(grid.spacing, std::numbers::pi / 25);
  const double cells = 2 * (300 * 6.25 / std::numbers::pi + 2 * std::numbers::pi * 2.5 * 0.5);
  EXPECT_GE(static_cast<double>(grid.inner), cells);
  EXPECT_LE(static_cast<double>(grid.inner), 1.1 * cells);
  EXPECT_EQ(grid.outer, 478 + 21 + 1);
  EXPECT_EQ(grid.held, grid.inner);
}

// The rule bounds truncation; the deconvolutions also magnify rounding (docs/design/accuracy.md has this table).
TEST(Type3Geometry, RoundingAllowsLargerROfTheGaussianRuleThanThePaperPrints) {
  const auto rounding = [](double r) { return gaussian_rounding(gaussian_rule(1e-10, r), r, 2, Precision::f64); };
  const std::pair<double, double> table[] = {{2.2, 3e-5}, {2.4, 5e-9}, {2.6, 2e-11}, {3, 3e-14}, {4, 1e-16}};
  for (const auto& [r, expected] : table) EXPECT_NEAR(std::log10(rounding(r) / expected), 0, 0.1) << r;
  EXPECT_EQ(least_gaussian_r(1e-10, 2, Precision::f64), 2.6);
  EXPECT_GT(rounding(2.5), 0.5e-10);
  EXPECT_LT(least_gaussian_r(1e-10, 1, Precision::f64), 2.6) << "one dimension magnifies less than two";
  EXPECT_GT(least_gaussian_r(1e-5, 2, Precision::f32), least_gaussian_r(1e-5, 2, Precision::f64));
  try {
    least_gaussian_r(1e-7, 3, Precision::f32);
    ADD_FAILURE() << "half an epsilon of f32 in every dimension is more";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::invalid_plan);
  }
}

// A centre near 0 becomes 0, which saves phase factors, and the interval then covers all points still.
TEST(Type3Geometry, AnIntervalNearZeroIsCentred) {
  const auto interval = [](double low, double high) {
    const Interval found = type3_interval(low, high);
    return std::array<double, 2>{found.centre, found.half};
  };
  using Pair = std::array<double, 2>;
  EXPECT_EQ(interval(-4, 4), (Pair{0, 4}));
  EXPECT_EQ(interval(-10, 12), (Pair{0, 12}));  // 1 is less than a tenth of 11
  EXPECT_EQ(interval(-12, 10), (Pair{0, 12}));
  EXPECT_EQ(interval(-60, 80), (Pair{10, 70}));  // 10 is more than a tenth of 70
  EXPECT_EQ(interval(-80, 60), (Pair{-10, 70}));
  EXPECT_EQ(interval(-0.5, 0.5625), (Pair{0, 0.5625}));
  EXPECT_EQ(interval(-0.5, 0.75), (Pair{0.125, 0.625}));
  EXPECT_EQ(interval(3, 3), (Pair{3, 0}));
  EXPECT_EQ(interval(0, 0), (Pair{0, 0}));
}

// Points of a plane whose coordinates were rounded differ by an ulp: half of it would leave some a whole one outside.
TEST(Type3Geometry, AnIntervalHoldsItsEndsAlsoWhereItsMiddleIsRounded) {
  for (const double low : {0.5, 0.1 + 0.2, 1000.3, -7.7, 1e300, -1e-300, 5e-324})
    for (int ulps = 0; ulps < 10; ++ulps) {
      double high = low;
      for (int i = 0; i < ulps; ++i) high = std::nextafter(high, INFINITY);
      const Interval found = type3_interval(low, high);
      EXPECT_LE(high - found.centre, found.half) << low << " and " << ulps << " ulps";
      EXPECT_LE(found.centre - low, found.half) << low << " and " << ulps << " ulps";
      if (ulps == 0) {
        EXPECT_EQ(found.half, 0);
      }
    }
}

// The deconvolution at a target takes the same distance from the centre, so what is lost of it is an error of the
// result.
TEST(Type3Geometry, AMapKeepsTheDigitsOfDistancesFromACentreFarAway) {
  for (const double centre : {0.0, 0.3, -1000.2200717515158, 1e9 + 0.1, -3e15})
    for (const double half : {1.0, 3e-5, 1e-10}) {
      const long double cells_per_unit = 10 / static_cast<long double>(half);
      const std::int64_t cells = 41;
      const Type3Map map = type3_map(centre, cells_per_unit, cells, true);
      const long double before = static_cast<long double>(centre) - map.centre - map.centre_low,
                        wanted = 20 / cells_per_unit;
      EXPECT_LT(std::abs(before / wanted - 1), std::numeric_limits<double>::epsilon()) << centre << " " << half;
      const long double factor = static_cast<long double>(map.factor) + map.factor_low;
      EXPECT_LT(std::abs(factor * cells / cells_per_unit - 1), 1e-18L);
    }
  const Type3Map whole = type3_map(-1000.2, 7, 41, false);
  EXPECT_EQ(whole.centre, -1000.2);
  EXPECT_EQ(whole.centre_low, 0);
}

// Grids are made for the whole extent where the points nearly fill it, so that the same kernels serve all such points.
TEST(Type3Geometry, SourcesThatNearlyFillTheExtentGetTheGridOfAll) {
  const Problem said = parse_problem("nufft:type=3,dim=1,m=100,k=100,prec=f64,tol=1e-6,extent=50");
  EXPECT_EQ(type3_source_half(said, 0, 10, 5), 10);      // fills it
  EXPECT_EQ(type3_source_half(said, 0, 9, 5), 10);       // 45 of 50
  EXPECT_EQ(type3_source_half(said, 0, 8, 5), 10);       // 40 of 50: just enough
  EXPECT_EQ(type3_source_half(said, 0, 7.9, 5), 7.9);    // less than 0.8
  EXPECT_EQ(type3_source_half(said, 0, 10.1, 5), 10.1);  // more than the extent
  EXPECT_EQ(type3_source_half(said, 0, 0, 5), 0);        // one point
  EXPECT_EQ(type3_source_half(said, 0, 5, 0), 5);
  const Problem guessed = parse_problem("nufft:type=3,dim=1,m=100,k=100,prec=f64,tol=1e-6");
  const double full = type3_extent(guessed)[0];
  EXPECT_DOUBLE_EQ(full, std::numbers::pi / 2 * 100);
  EXPECT_EQ(type3_source_half(guessed, 0, 0.99995 * full, 1), full);
  EXPECT_EQ(type3_source_half(guessed, 0, 0.9998 * full, 1), 0.9998 * full);
}

TEST(Type3Geometry, TheGuessedExtentFollowsTheTargets) {
  const auto guess = [](const char* token) { return type3_extent(parse_problem(token)); };
  const double half_pi = std::numbers::pi / 2;
  EXPECT_DOUBLE_EQ(guess("nufft:type=3,dim=2,m=400,k=900,prec=f64,tol=1e-6")[1], half_pi * 30);
  EXPECT_DOUBLE_EQ(guess("nufft:type=3,dim=3,m=400,k=1000,prec=f64,tol=1e-6")[2], half_pi * 10);
  EXPECT_EQ(guess("nufft:type=3,dim=2,m=400,k=900,prec=f64,tol=1e-6,extent=7x9"), (std::array<double, 3>{7, 9, 0}));
}

}  // namespace
}  // namespace fourtune::generator
