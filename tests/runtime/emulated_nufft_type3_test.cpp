// Transforms of type 3 on the emulated backend, through the public interface: direct sums and adjointness.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "generator/codegen/nufft/type3.h"
#include "tests/runtime/emulated_nufft_support.h"

namespace fourtune {
namespace {

using test::emulated;
using test::NufftCase;
using test::NufftExperiment;
using test::status_of;

TEST(EmulatedNufftType3, MeetsTheToleranceInEveryDimensionAndFollowsItsPoints) {
  // Every grid compiles separate kernels, so there are few cases here; the forced plans below have others.
  for (int dim = 1; dim <= 3; ++dim) {
    const Precision precision = dim == 2 ? Precision::f32 : Precision::f64;
    NufftCase c;
    c.problem = parse_problem("nufft:type=3,dim=" + std::to_string(dim) + ",m=70,k=60,prec=" + to_string(precision) +
                              ",tol=1e-4,batch=" + (dim == 1 ? "3" : "1"));
    Transform transform(to_token(c.problem), emulated(""));
    for (const double scale : {1.0, 0.3}) {
      if (dim > 1 && scale < 1) continue;
      const auto run = [&](auto experiment) {
        experiment.scale_targets(scale);
        experiment.set_points(transform);
        EXPECT_LE(experiment.error(transform, false), 3e-4) << transform.plan();
        EXPECT_LE(experiment.error(transform, true), 3e-4) << transform.plan();
        EXPECT_LE(experiment.adjointness(transform), 100 * epsilon(precision)) << transform.plan();
      };
      precision == Precision::f32 ? run(NufftExperiment<float>(c)) : run(NufftExperiment<double>(c));
    }
  }
}

// Every pair of dimension, precision, windows and oversamplings of both grids, families of both sides, and batch.
class EmulatedNufftType3Covering : public testing::TestWithParam<std::vector<int>> {};
TEST_P(EmulatedNufftType3Covering, MeetsTheToleranceForwardAndAdjoint) {
  const auto& at = GetParam();
  constexpr generator::WindowKind kinds[] = {generator::WindowKind::pswf, generator::WindowKind::kaiser_bessel,
                                             generator::WindowKind::exp_semicircle};
  constexpr double sigmas[] = {2, 1.5, 1.25};
  struct Sides {
    const char *sources, *targets;
  };
  constexpr Sides sides[] = {
      {"tile_owned", "tiled"}, {"points", "points"}, {"window", "window"}, {"tile_atomic", "matrix"}};
  const int dim = 1 + at[0];
  const Precision precision = at[1] ? Precision::f64 : Precision::f32;
  const double tol = at[1] && at[6] ? 1e-6 : 1e-3;
  const char* bins[] = {"16", "8x8", "4x4x4"};
  const char* slide[] = {"16", "8x1", "3x3x1"};
  const auto sort = [&](bool sliding) {
    return std::string("bins(bin=") + (sliding ? slide : bins)[dim - 1] + (sliding ? ",order=slide" : "") + ",cap=40)";
  };
  const auto window = [&](int kind, int sigma) {
    return fmt::format("{}(sigma={},width={})", to_string(kinds[kind]), sigmas[sigma],
                       generator::width_for(kinds[kind], tol / 3, sigmas[sigma], dim));
  };
  Sides with = sides[at[5]];
  const std::string interp = dim == 1 && at[5] == 3 ? "points" : with.targets;
  const bool slides = interp == "window" || (interp == "matrix" && dim == 3);
  const std::string plan =
      fmt::format("emulated;type3=compose;window={};inner={};sort={};targets={};spread={};interp={};fft=plain;chunk=2",
                  window(at[2], at[4]), window(at[3], 2 - at[4]), sort(at[5] == 2), sort(slides), with.sources, interp);
  NufftCase c;
  c.problem = parse_problem(fmt::format("nufft:type=3,dim={},m=50,k=40,prec={},tol={},batch={}", dim,
                                        to_string(precision), tol, at[6] ? 3 : 2));
  SCOPED_TRACE(to_token(c.problem) + "  " + plan);
  Transform transform(to_token(c.problem), emulated(plan));
  precision == Precision::f32 ? NufftExperiment<float>(c).expect_right(transform, 100)
                              : NufftExperiment<double>(c).expect_right(transform, 100);
}
INSTANTIATE_TEST_SUITE_P(Pairs, EmulatedNufftType3Covering, testing::ValuesIn(test::pairwise({3, 2, 3, 3, 3, 4, 2})));

TEST(EmulatedNufftType3, ForcedPlansOfOtherKindsAndEmptySides) {
  // Whole and partly held grids, families of both sides, batches in uneven chunks.
  const std::string windows[] = {"window=pswf(sigma=2.5,width=7);inner=pswf(sigma=1.5,width=8)",
                                 "window=kb(sigma=1.25,width=9);inner=es(sigma=2,width=8)"};
  const std::string methods[] = {
      "sort=bins(bin=8x1,order=slide,cap=40);targets=none;spread=window;interp=points(lanes=4)",
      "sort=bins(bin=8x8,cap=40);targets=bins(bin=8x1,order=slide,cap=40);spread=tile_owned;interp=window"};
  for (int i = 0; i < 2; ++i) {
    NufftCase c;
    c.problem = parse_problem("nufft:type=3,dim=2,m=70,k=80,prec=f64,tol=1e-4,batch=3");
    const std::string plan = "emulated;type3=compose;" + windows[i] + ";" + methods[i] + ";fft=plain;chunk=2";
    const NufftExperiment<double> experiment(c);
    Transform transform(to_token(c.problem), emulated(plan));
    experiment.set_points(transform);
    EXPECT_LE(experiment.error(transform, false), 3e-4) << plan;
    EXPECT_LE(experiment.error(transform, true), 3e-4) << plan;
  }
  Transform empty("nufft:type=3,dim=1,prec=f64,tol=1e-4", emulated(""));
  const std::vector<double> some{0.5, 1, 2};
  std::vector<std::complex<double>> three(3, {7, 7});
  empty.set_points({0, nullptr, nullptr, nullptr, 3, some.data()});
  empty.execute(nullptr, three.data());
  for (const auto& value : three) EXPECT_EQ(value, std::complex<double>(0, 0));
  empty.set_points({1, some.data(), nullptr, nullptr, 3, some.data()});  // one source: a grid of different size
  std::vector<std::complex<double>> one(1, {2, 0});
  empty.execute(one.data(), three.data());
  for (std::size_t l = 0; l < 3; ++l) EXPECT_LE(std::abs(three[l] - 2.0 * std::polar(1.0, -0.5 * some[l])), 1e-3) << l;
}

// Coordinates by dimension; those that the problem does not have are empty.
using AxisPoints = std::array<std::vector<double>, 3>;

AxisPoints drawn(std::uint64_t seed, int n, const std::vector<std::pair<double, double>>& ranges) {
  std::mt19937_64 random(seed);
  AxisPoints points;
  for (std::size_t d = 0; d < ranges.size(); ++d)
    for (int j = 0; j < n; ++j)
      points[d].push_back(std::uniform_real_distribution<double>(ranges[d].first, ranges[d].second)(random));
  return points;
}

// The relative error against direct sums.
double error_of(Transform& transform, const AxisPoints& x, const AxisPoints& s) {
  std::vector<std::complex<double>> strengths, got(s[0].size());
  for (std::size_t j = 0; j < x[0].size(); ++j) strengths.emplace_back(std::cos(5.0 * static_cast<double>(j)), 0.5);
  transform.set_points({static_cast<std::int64_t>(x[0].size()), x[0].data(), x[1].data(), x[2].data(),
                        static_cast<std::int64_t>(s[0].size()), s[0].data(), s[1].data(), s[2].data()});
  transform.execute(strengths.data(), got.data());
  double difference = 0, norm = 0;
  for (std::size_t l = 0; l < got.size(); ++l) {
    std::complex<long double> want = 0;
    for (std::size_t j = 0; j < strengths.size(); ++j) {
      long double angle = 0;
      for (std::size_t d = 0; d < 3; ++d)
        if (!x[d].empty()) angle -= static_cast<long double>(x[d][j]) * s[d][l];
      want += std::complex<long double>(strengths[j]) * std::polar(1.0L, angle);
    }
    difference += static_cast<double>(std::norm(std::complex<long double>(got[l]) - want));
    norm += static_cast<double>(std::norm(want));
  }
  return std::sqrt(difference / norm);
}

// Over a long grid, the rounding of a coordinate's map alone would exceed the tolerance.
TEST(EmulatedNufftType3, KeepsItsDigitsOverManyTurns) {
  Transform transform("nufft:type=3,dim=1,m=3,k=60,prec=f64,tol=3e-13", emulated(""));
  EXPECT_LE(error_of(transform, {{{-1.3, 0.7, 2.9}}}, drawn(31, 60, {{-20000, 21000}})), 9e-13) << transform.plan();
}

// The phases around the grids are of many turns: their products and sums are rounded to 2e-9 of a turn and more.
TEST(EmulatedNufftType3, KeepsItsDigitsFarFromTheOrigin) {
  Transform transform("nufft:type=3,dim=2,m=30,k=40,prec=f64,tol=1e-11", emulated(""));
  EXPECT_LE(error_of(transform, drawn(1, 30, {{1e6, 1e6 + 3}, {-3e6, -3e6 + 2}}), drawn(2, 40, {{-9, 11}, {20, 31}})),
            1e-10)
      << transform.plan();
}

// More than one block of threads on either side.
TEST(EmulatedNufftType3, HasManyPoints) {
  Transform transform("nufft:type=3,dim=1,m=600,k=700,prec=f64,tol=1e-6", emulated(""));
  EXPECT_LE(error_of(transform, drawn(5, 600, {{3, 5}}), drawn(6, 700, {{10, 40}})), 3e-6) << transform.plan();
}

// Each dimension has its own map, and a point in the middle, on a cell of the grid, is located with all digits.
TEST(EmulatedNufftType3, PointsOnCellsOfTheGridAreLocatedByTheMapOfTheirDimension) {
  Transform transform("nufft:type=3,dim=3,m=43,k=30,prec=f64,tol=1e-6",
                      emulated("emulated;type3=compose;window=pswf(sigma=2,width=8);inner=pswf(sigma=2,width=8);"
                               "sort=bins(bin=4x4x4,cap=40,placement=two_level);targets=none;spread=tile_owned;"
                               "interp=points(lanes=4);fft=plain"));
  AxisPoints x = drawn(3, 40, {{0, 2}, {10, 16}, {-3, -1}});
  for (const double at : {0.0, 0.5, 1.0})
    x[0].push_back(2 * at), x[1].push_back(10 + 6 * at), x[2].push_back(-3 + 2 * at);
  EXPECT_LE(error_of(transform, x, drawn(4, 30, {{-5, 5}, {-2, 3}, {1, 6}})), 3e-6) << transform.plan();
}

TEST(EmulatedNufftType3, ThePapersGaussianReachesTenDigits) {
  NufftCase c;
  c.problem = parse_problem("nufft:type=3,dim=1,m=60,k=50,prec=f64,tol=1e-10");
  const NufftExperiment<double> experiment(c);
  Transform transform(to_token(c.problem),
                      emulated("emulated;type3=gaussian(r=2.5);sort=bins(bin=64);targets=bins(bin=64);"
                               "spread=points(lanes=16);interp=points(lanes=16);fft=plain"));
  experiment.set_points(transform);
  EXPECT_LE(experiment.error(transform, false), 3e-10);
  EXPECT_LE(experiment.error(transform, true), 3e-10);
  EXPECT_THROW(Transform(to_token(c.problem),
                         emulated("emulated;type3=gaussian(r=2.5);sort=bins(bin=64,order=slide);targets=bins(bin=64);"
                                  "spread=window;interp=points;fft=plain"))
                   .set_points({1, &c.spread_of_points, nullptr, nullptr, 1, &c.spread_of_points}),
               Error);
}

TEST(EmulatedNufftType3, NamesBadPointsOfBothSides) {
  std::vector<double> x(20, 0.5), s(30, 1.0);
  s[11] = std::numeric_limits<double>::quiet_NaN();
  x[3] = 0.25;
  Transform transform("nufft:type=3,dim=1,m=20,k=30,prec=f64,tol=1e-4", emulated(""));
  std::string message;
  EXPECT_EQ(status_of(
                [&] {
                  transform.set_points({20, x.data(), nullptr, nullptr, 30, s.data()});
                },
                &message),
            Status::invalid_point);
  EXPECT_NE(message.find("s[11]"), std::string::npos) << message;
  Transform any("nufft:type=3,dim=1,prec=f64,tol=1e-4", emulated(""));
  EXPECT_EQ(status_of(
                [&] {
                  any.set_points({0, nullptr, nullptr, nullptr, 30, s.data()});
                },
                &message),
            Status::invalid_point);
  EXPECT_NE(message.find("s[11]"), std::string::npos) << message;
  // The host looks at the first points, a kernel at later ones.
  s[11] = 1;
  transform.set_points({20, x.data(), nullptr, nullptr, 30, s.data()});
  x[3] = std::numeric_limits<double>::infinity();
  EXPECT_EQ(status_of(
                [&] {
                  transform.set_points({20, x.data(), nullptr, nullptr, 30, s.data()});
                },
                &message),
            Status::invalid_point);
  EXPECT_NE(message.find("x[3]"), std::string::npos) << message;
}

// So that neither moves to another grid when the same points are set again.
TEST(EmulatedNufftType3, HostAndKernelSeeTheSameExtents) {
  using generator::gpu_nufft::Type3Kernels;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto see = [](const auto& numbers, Precision precision) {
    return Type3Kernels::extent(std::as_bytes(std::span(numbers)), precision);
  };
  const auto seen = see(std::vector<double>{2, nan, -7.5, -nan, 3}, Precision::f64);
  EXPECT_EQ(seen.low, -7.5);
  EXPECT_EQ(seen.high, 3);
  EXPECT_EQ(seen.bad, 1u);
  const auto positive = see(std::vector<float>{0.5f, 0.25f}, Precision::f32);
  EXPECT_EQ(positive.low, 0.25);
  EXPECT_EQ(positive.high, 0.5);
  EXPECT_EQ(positive.bad, ~std::uint64_t{0});
  const auto none = see(std::vector<double>{nan}, Precision::f64);
  EXPECT_EQ(none.low, 0);
  EXPECT_EQ(none.high, 0);
  EXPECT_EQ(none.bad, 0u);
}

TEST(EmulatedNufftType3, HasNoRaces) {
  runtime::emulated::RunOptions checks;
  checks.instrumented = checks.undefined = true;
  const runtime::emulated::EmulatedBackend backend(runtime::gpu::library_programs(), checks);
  const std::pair<const char*, const char*> cases[] = {
      {"nufft:type=3,dim=1,m=40,k=30,prec=f32,tol=1e-3",
       "sort=bins(bin=16);targets=bins(bin=16);spread=tile_owned;interp=points"},
      {"nufft:type=3,dim=2,m=40,k=30,prec=f32,tol=1e-3",
       "sort=bins(bin=8x1,order=slide,cap=40);targets=bins(bin=8x8,cap=40);spread=window;interp=tiled"}};
  std::vector<float> x, y, s, t;
  for (int j = 0; j < 40; ++j)
    x.push_back(3 + std::sin(static_cast<float>(j))), y.push_back(std::cos(static_cast<float>(j * j)));
  for (int l = 0; l < 30; ++l)
    s.push_back(20 + 9 * std::cos(static_cast<float>(l))), t.push_back(5 * std::sin(static_cast<float>(l * l)));
  for (const auto& [token, stages] : cases) {
    const Problem problem = parse_problem(token);
    const std::string plan = "emulated;type3=compose;window=pswf(sigma=2,width=5);inner=pswf(sigma=2,width=5);" +
                             std::string(stages) + ";fft=plain";
    const auto executor = backend.bind(problem, generator::parse_plan(plan, problem), {});
    const bool flat = problem.dim == 1;
    for (int time = 0; time < 2; ++time)  // the second time a kernel looks for extents
      executor->set_points(
          {40, x.data(), flat ? nullptr : y.data(), nullptr, 30, s.data(), flat ? nullptr : t.data(), nullptr});
    std::vector<std::complex<float>> values(40, {1, 1}), results(30, {2, 1});
    executor->execute(values.data(), results.data(), false);
    executor->execute(values.data(), results.data(), true);
  }
}

// Two dimensions, as in the paper.
TEST(EmulatedNufftType3, ThePapersGaussianInTwoDimensions) {
  NufftCase c;
  c.problem = parse_problem("nufft:type=3,dim=2,m=20,k=15,prec=f64,tol=1e-8");
  const NufftExperiment<double> experiment(c);
  Transform transform(to_token(c.problem), emulated("emulated;type3=gaussian(r=2.5);sort=none;targets=none;"
                                                    "spread=points(lanes=32);interp=points(lanes=32);fft=plain"));
  experiment.set_points(transform);
  EXPECT_LE(experiment.error(transform, false), 3e-8) << transform.plan();
  EXPECT_LE(experiment.error(transform, true), 3e-8);
}

}  // namespace
}  // namespace fourtune
