#include "tuner/reference/synthetic.h"

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace fourtune::tuner {
namespace {

using std::numbers::pi;
constexpr PointClass kClasses[] = {PointClass::uniform, PointClass::cluster, PointClass::radial,
                                   PointClass::spiral,  PointClass::stack,   PointClass::ewald};

template <typename T>
std::array<double, 3> at(const PointSet<T>& p, std::int64_t j) {
  std::array<double, 3> v{};
  for (std::size_t d = 0; d < static_cast<std::size_t>(p.dim); ++d)
    v[d] = static_cast<double>(p.x[d][static_cast<std::size_t>(j)]);
  return v;
}
double dot(const std::array<double, 3>& a, const std::array<double, 3>& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

TEST(Synthetic, SinglePrecisionPointsAreTheRoundedDoublesAndLieInsideTheFold) {
  const std::array<std::int64_t, 3> n{17, 8, 20};
  for (const PointClass c : kClasses)
    for (int dim = 1; dim <= 3; ++dim) {
      const auto wide = make_points<double>(c, dim, n, 3001, 7);
      const auto narrow = make_points<float>(c, dim, n, 3001, 7);
      ASSERT_EQ(wide.count(), 3001);
      EXPECT_EQ(wide.data(dim), nullptr);
      for (std::size_t d = 0; d < static_cast<std::size_t>(dim); ++d)
        for (std::size_t j = 0; j < 3001; ++j) {
          ASSERT_EQ(narrow.x[d][j], static_cast<float>(wide.x[d][j]));
          ASSERT_LT(std::fabs(static_cast<double>(narrow.x[d][j])), pi) << to_string(c) << " dim " << dim;
          ASSERT_LT(std::fabs(wide.x[d][j]), pi);
        }
    }
}

TEST(Synthetic, ResultsDoNotDependOnTheNumberOfThreads) {
  const int before = omp_get_max_threads();
  for (const PointClass c : kClasses) {
    omp_set_num_threads(1);
    const auto one = make_points<double>(c, 3, {12, 12, 12}, 5000, 3);
    omp_set_num_threads(3);
    const auto three = make_points<double>(c, 3, {12, 12, 12}, 5000, 3);
    EXPECT_EQ(one.x, three.x) << to_string(c);
    EXPECT_NE(one.x, make_points<double>(c, 3, {12, 12, 12}, 5000, 4).x) << to_string(c) << " ignores its seed";
  }
  omp_set_num_threads(before);
}

TEST(Synthetic, UniformPointsHaveTheMomentsOfTheUniformDistribution) {
  const auto p = make_points<double>(PointClass::uniform, 2, {4, 4, 1}, 200000, 11);
  double mean = 0, square = 0, cross = 0;
  for (std::size_t j = 0; j < 200000; ++j) {
    mean += p.x[0][j] / 200000;
    square += p.x[0][j] * p.x[0][j] / 200000;
    cross += p.x[0][j] * p.x[1][j] / 200000;
  }
  EXPECT_NEAR(mean, 0, 0.02);
  EXPECT_NEAR(square, pi * pi / 3, 0.03);
  EXPECT_NEAR(cross, 0, 0.03);
}

TEST(Synthetic, ClusterFillsABoxOfEightFineCellsFromTheOrigin) {
  const auto p = make_points<double>(PointClass::cluster, 3, {64, 128, 4}, 20000, 5);
  for (std::size_t d = 0; d < 3; ++d) {
    const double side = std::min(pi, 8 * pi / std::array<double, 3>{64, 128, 4}[d]);
    const auto [low, high] = std::minmax_element(p.x[d].begin(), p.x[d].end());
    EXPECT_GE(*low, 0);
    EXPECT_LT(*low, 0.01 * side);
    EXPECT_LE(*high, side);
    EXPECT_GT(*high, 0.99 * side);
  }
}

TEST(Synthetic, RadialReadoutsAreStraightAndPassTheCentre) {
  for (int dim = 2; dim <= 3; ++dim) {
    const auto p = make_points<double>(PointClass::radial, dim, {16, 16, 16}, 32 * 50, 2);
    for (std::int64_t spoke = 0; spoke < 50; ++spoke) {
      EXPECT_EQ(dot(at(p, spoke * 32 + 16), at(p, spoke * 32 + 16)), 0);
      const auto end = at(p, spoke * 32);
      EXPECT_NEAR(std::sqrt(dot(end, end)), pi, 1e-6);
      for (std::int64_t i = 1; i < 32; ++i) {
        const auto v = at(p, spoke * 32 + i);
        EXPECT_NEAR(dot(v, end), pi * pi * static_cast<double>(16 - i) / 16, 1e-5);
      }
    }
  }
}

TEST(Synthetic, SpiralDensityFallsOutward) {
  for (int dim = 2; dim <= 3; ++dim) {
    const auto p = make_points<double>(PointClass::spiral, dim, {64, 64, 64}, 40000, 2);
    int inner = 0;
    for (std::int64_t j = 0; j < p.count(); ++j) {
      const auto v = at(p, j);
      const double r = std::sqrt(dot(v, v));
      ASSERT_LE(r, pi * (1 + 1e-12));
      inner += r < pi / 2;
    }
    EXPECT_NEAR(inner, 20000, 1500);  // a quarter (an eighth in 3D) for a constant density
  }
}

// 16 N samples of an arm lie at equal steps of the radius, the first one half a step from the centre; the last arm may
// be shorter.
TEST(Synthetic, ArmsOfASpiralLeaveTheCentreInEqualSteps) {
  for (int dim = 2; dim <= 3; ++dim) {
    const auto p = make_points<double>(PointClass::spiral, dim, {8, 8, 8}, 3 * 128 + 5, 2);
    for (std::int64_t j = 0; j < p.count(); ++j) {
      const auto v = at(p, j);
      EXPECT_NEAR(std::sqrt(dot(v, v)) / pi * 128, static_cast<double>(j % 128) + 0.5, 1e-4) << dim << "D, " << j;
    }
  }
}

TEST(Synthetic, StackOfStarsLiesOnCartesianPlanes) {
  const auto p = make_points<double>(PointClass::stack, 3, {16, 16, 12}, 32 * 12 * 4, 2);
  std::array<int, 12> hits{};
  for (const double z : p.x[2]) {
    const double plane = z * 12 / (2 * pi) + 6;
    ASSERT_NEAR(plane, std::round(plane), 1e-6);
    ++hits.at(static_cast<std::size_t>(std::lround(plane)));
  }
  for (const int h : hits) EXPECT_EQ(h, 32 * 4);
}

// Points q of a sphere through the origin with centre c satisfy c . q = |q|^2 / 2.
TEST(Synthetic, EwaldCapsAreSpheresThroughTheOrigin) {
  const auto p = make_points<double>(PointClass::ewald, 3, {20, 20, 20}, 400 * 3, 2);
  const double k0 = pi / (2 * std::sin(0.3));
  for (std::int64_t cap = 0; cap < 3; ++cap) {
    // The opposite corners of the detector give two directions. The axis is the opposite of their sum.
    const auto a = at(p, cap * 400), b = at(p, cap * 400 + 399);
    EXPECT_NEAR(std::sqrt(dot(a, a)), pi, 1e-5);
    std::array<double, 3> centre{a[0] + b[0], a[1] + b[1], a[2] + b[2]};
    const double scale = k0 / std::sqrt(dot(centre, centre));
    for (double& c : centre) c *= scale;
    for (std::int64_t i = 0; i < 400; ++i) {
      const auto q = at(p, cap * 400 + i);
      EXPECT_NEAR(dot(centre, q), dot(q, q) / 2, 1e-5);
    }
  }
}

TEST(Synthetic, TypeThreeExtentsAreAttainedFromBelow) {
  for (const char* token : {"nufft:type=3,dim=2,m=50,k=60,prec=f32,tol=1e-5,extent=3000x7",
                            "nufft:type=3,dim=3,m=50,k=4096,prec=f32,tol=1e-5,points=cluster"}) {
    const Problem problem = parse_problem(token);
    const auto extent = resolved_extent(problem);
    const auto sources = make_points<float>(problem, 1), targets = make_targets<float>(problem, 2);
    EXPECT_EQ(targets.count(), *problem.k);
    for (std::size_t d = 0; d < static_cast<std::size_t>(problem.dim); ++d) {
      double x = 0, s = 0;
      for (const float v : sources.x[d]) x = std::max(x, std::fabs(static_cast<double>(v)));
      for (const float v : targets.x[d]) s = std::max(s, std::fabs(static_cast<double>(v)));
      EXPECT_LE(x * s, extent[d]);
      EXPECT_GT(x * s, extent[d] * (1 - 1e-6));
    }
  }
  EXPECT_NEAR(resolved_extent(parse_problem("nufft:type=3,dim=3,k=4096,prec=f32,tol=1e-5"))[2], pi / 2 * 16, 1e-12);
}

TEST(Synthetic, MissingCountsAndBadDimensionsAreErrors) {
  EXPECT_THROW(make_points<float>(parse_problem("nufft:type=1,n=8,prec=f32,tol=1e-3"), 1), Error);
  EXPECT_THROW(make_points<double>(PointClass::uniform, 4, {1, 1, 1}, 5, 1), Error);
  EXPECT_THROW(make_points<double>(PointClass::uniform, 1, {1, 1, 1}, -5, 1), Error);
  for (const PointClass c : kClasses) EXPECT_EQ(make_points<double>(c, 2, {1, 1, 1}, 0, 1).count(), 0);
}

TEST(Synthetic, HalfSpectraAreHermitianOnTheirOwnMirrorPlanes) {
  std::vector<std::complex<double>> f(4 * 5 * 4 * 3 * 2);
  fill_half_spectrum<double>(f, {6, 5, 4, 3}, 2, 9);
  const auto at = [&](std::size_t b, std::size_t x, std::size_t y, std::size_t z, std::size_t w) {
    return f[x + 4 * (y % 5 + 5 * (z % 4 + 4 * (w % 3 + 3 * b)))];
  };
  for (std::size_t b = 0; b < 2; ++b)
    for (const std::size_t x : {0u, 3u})
      for (std::size_t y = 0; y < 5; ++y)
        for (std::size_t z = 0; z < 4; ++z)
          for (std::size_t w = 0; w < 3; ++w) EXPECT_EQ(at(b, x, y, z, w), std::conj(at(b, x, 5 - y, 4 - z, 3 - w)));
  EXPECT_NE(at(0, 1, 0, 0, 0), at(1, 1, 0, 0, 0));  // the transforms of a batch are different
}

}  // namespace
}  // namespace fourtune::tuner
