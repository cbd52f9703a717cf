// Grids of type 3: their parts and sizes for many space-bandwidth products.
#include "generator/plan/type3_geometry.h"

#include <gtest/gtest.h>

#include <numbers>

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

}  // namespace
}  // namespace fourtune::generator
