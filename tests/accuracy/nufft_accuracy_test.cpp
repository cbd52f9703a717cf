// Checks direct sums, adjointness and tolerance for every type, dimension, precision, window and family. The full
// product would take too long, so a pairwise covering set of forced plans runs, and the untuned default on a tolerance
// sweep.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "fourtune/transform.h"
#include "generator/candidates.h"
#include "generator/window/fft_size.h"
#include "tests/support/covering.h"
#include "tests/support/nufft_experiment.h"

namespace fourtune {
namespace {

using Case = test::NufftCase;
template <class T>
using Experiment = test::NufftExperiment<T>;

template <class T>
void check(const Case& c) {
  Options options = c.options;
  options.default_databases = false;
  options.plan = generator::to_text(c.plan, c.problem);
  SCOPED_TRACE(to_token(c.problem) + "  " + options.plan);
  const Experiment<T> experiment(c);
  Transform transform(to_token(c.problem), options);
  experiment.expect_right(transform, 20);
}
void check_either(const Case& c) { c.problem.precision == Precision::f32 ? check<float>(c) : check<double>(c); }

struct Factors {
  static constexpr generator::WindowKind kinds[] = {generator::WindowKind::exp_semicircle,
                                                    generator::WindowKind::kaiser_bessel, generator::WindowKind::pswf,
                                                    generator::WindowKind::gaussian};
  static constexpr double sigmas[] = {1.25, 1.5, 2.0};
  static constexpr double tols[] = {1e-1, 1e-3, 1e-5};
  static constexpr std::array<std::int64_t, 3> sizes[3][2] = {
      {{37, 1, 1}, {64, 1, 1}}, {{12, 17, 1}, {16, 16, 1}}, {{9, 6, 11}, {8, 8, 8}}};
};

// The entries of `at`: type, dim, precision, window, sigma, family (spread), interp, tol, batch, sign, order+size,
// threads, copy, table.
Case covering_case(const std::vector<int>& at) {
  using generator::SpreadFamily;
  Case c;
  c.problem.kind = Kind::nufft;
  c.problem.type = 1 + at[0];
  c.problem.dim = 1 + at[1];
  c.problem.precision = at[2] ? Precision::f64 : Precision::f32;
  const auto kind = Factors::kinds[at[3]];
  const double sigma = Factors::sigmas[at[4]];
  c.problem.tol = Factors::tols[at[7]];
  c.problem.m = 150;
  if (c.problem.type == 3)
    c.problem.k = 130;
  else
    c.problem.n = Factors::sizes[at[1]][at[10] & 1];
  c.problem.batch = at[8] ? 3 : 1;
  c.problem.sign = at[9] ? 1 : -1;
  c.options.mode_order = at[10] & 2 ? ModeOrder::fft : ModeOrder::centred;
  const int stages = c.problem.type == 3 ? 2 : 1;
  int width = 0;
  for (double tol = c.problem.tol; width == 0; tol *= 10, c.problem.tol = tol)  // a Gaussian at 1.25 is not accurate
    width = generator::width_for(kind, std::max(tol, 2.5 * epsilon(c.problem.precision)), sigma, c.problem.dim, stages);
  c.problem.tol /= 10;
  c.plan.window = generator::WindowChoice{kind, sigma, width, {0, 0, 0}, 0};
  if (at[13]) c.plan.window.table = 1 << 14;
  c.plan.inner = c.plan.window;
  if (c.problem.type != 3)
    for (int d = 0; d < 3; ++d)
      c.plan.window.fine[d] = d < c.problem.dim ? generator::smooth_size(std::max<std::int64_t>(
                                                      std::llround(std::ceil(sigma * c.problem.n[d])), 2 * width))
                                                : 1;
  c.plan.cpu().spread.family = static_cast<SpreadFamily>(at[5]);
  c.plan.cpu().spread.cap = 64;
  c.plan.cpu().spread.add = at[12] ? generator::AddRule::colour : generator::AddRule::lock;
  c.plan.cpu().interp.family = at[6] ? generator::InterpFamily::tile : generator::InterpFamily::direct;
  c.plan.cpu().interp.cap = 64;
  c.plan.cpu().sort.tile = {16, 8, 8};
  if (c.problem.dim < 3) c.plan.cpu().sort.tile[2] = 1;
  if (c.problem.dim < 2) c.plan.cpu().sort.tile[1] = 1;
  c.plan.cpu().sort.copy = at[12] == 0;
  c.plan.cpu().sort.local = at[8] && c.plan.cpu().sort.copy;
  if (c.plan.cpu().spread.family == SpreadFamily::atomic && !at[6])
    c.plan.cpu().sort.family = generator::SortFamily::none;
  c.plan.cpu().threads = 1 + at[11];
  c.plan.chunk = at[8] ? 1 + at[11] : 1;
  c.plan.cpu().fft.rigor = generator::Rigor::estimate;
  return c;
}

TEST(NufftAccuracy, EveryPairOfTypeDimensionPrecisionWindowFamilyAndOptionMeetsTheTolerance) {
  const auto rows = test::pairwise({3, 3, 2, 4, 3, 4, 2, 3, 2, 2, 4, 2, 2, 2});
  EXPECT_GE(rows.size(), 16u);
  for (const auto& row : rows) check_either(covering_case(row));
}

TEST(NufftAccuracy, EveryTypeDimensionPrecisionAndSpreadFamilyMeetsTheTolerance) {
  for (int type = 0; type < 3; ++type)
    for (int dim = 0; dim < 3; ++dim)
      for (int precision = 0; precision < 2; ++precision)
        for (int family = 0; family < 4; ++family)
          check_either(covering_case({type, dim, precision, 2, 2, family, family & 1, 2, 0, 0, 0, 1, 0, 0}));
}

Options untuned() {
  Options options;
  options.default_databases = false;
  return options;
}

TEST(NufftAccuracy, TheErrorOfTheDefaultPlanTracksTheTolerance) {
  for (const Precision precision : {Precision::f32, Precision::f64})
    for (int type = 1; type <= 3; ++type)
      for (int dim = 1; dim <= 3; ++dim) {
        double coarse = 0, fine = 0;
        const int last = precision == Precision::f32 ? 6 : 14;
        for (int digits = 1; digits <= last; digits += dim == 3 ? 3 : 2) {
          Case c;
          c.problem.type = type, c.problem.dim = dim, c.problem.precision = precision;
          c.problem.sign = type == 2 ? 1 : -1;
          c.problem.m = 150;
          c.problem.tol = std::pow(10.0, -digits);
          if (type == 3)
            c.problem.k = 130;
          else
            c.problem.n = Factors::sizes[dim - 1][0];
          SCOPED_TRACE(to_token(c.problem));
          Transform transform(to_token(c.problem), untuned());
          double error = 0;
          if (precision == Precision::f32) {
            const Experiment<float> experiment(c);
            experiment.set_points(transform);
            error = experiment.error(transform, false);
          } else {
            const Experiment<double> experiment(c);
            experiment.set_points(transform);
            error = experiment.error(transform, false);
          }
          EXPECT_LE(error, allowed_error(c.problem)) << transform.plan();
          (digits == 1 ? coarse : fine) = error;
        }
        EXPECT_GT(coarse, 10 * fine);  // a lower tolerance gives more digits
      }
}

TEST(NufftAccuracy, PointsFarOutsideTheIntervalAreFoldedWithoutLosingDigits) {
  for (const double spread : {3.14159265358979, 30.0, 1e4})
    for (int type = 1; type <= 2; ++type) {
      Case c;
      c.problem = parse_problem(type == 1 ? "nufft:type=1,n=200,m=100,prec=f64,tol=1e-9"
                                          : "nufft:type=2,n=200,m=100,prec=f64,tol=1e-9");
      c.spread_of_points = spread;
      const Experiment<double> experiment(c);
      Transform transform(to_token(c.problem), untuned());
      experiment.set_points(transform);
      EXPECT_LE(experiment.error(transform, false), 3e-9) << spread;
      Case single = c;
      single.problem.precision = Precision::f32;
      single.problem.tol = 1e-5;
      const Experiment<float> exact(single);
      Transform f32(to_token(single.problem), untuned());
      exact.set_points(f32);
      EXPECT_LE(exact.error(f32, false), 3e-5) << spread;
    }
}

TEST(NufftAccuracy, SinglePrecisionDoesNotLoseDigitsWithTheSizeOfTheGrid) {
  // If points were located in f32, they would be off by n 6e-8 cells: an error of several percent here.
  Case c;
  c.problem = parse_problem("nufft:type=2,n=1000000,m=40,prec=f32,tol=1e-5");
  const Experiment<float> experiment(c);
  Transform transform(to_token(c.problem), untuned());
  experiment.set_points(transform);
  EXPECT_LE(experiment.error(transform, false), 3e-5);
}

TEST(NufftAccuracy, SinglePrecisionDoesNotLoseDigitsWhenAllPointsLieInOnePlace) {
  // With sums of 32768 points, as this plan asks for, errors were 4.1e-6 to 1.0e-5.
  for (const char* add : {"lock", "colour"}) {
    for (const int m : {32768, 30000, 60000, 100000}) {
      Case c;
      c.problem = parse_problem("nufft:type=1,n=40,m=" + std::to_string(m) + ",prec=f32,tol=1.1e-6");
      c.spread_of_points = 0.3;
      const Experiment<float> experiment(c);
      Options options = untuned();
      options.plan = std::string("cpu;threads=1;window=kb(sigma=1.4,width=9,fine=56);sort=tiles(tile=128);") +
                     "spread=subgrid(cap=32768,add=" + add +
                     ");interp=tile(cap=32768);fft=pruned(rigor=estimate,block=64)";
      Transform transform(to_token(c.problem), options);
      experiment.set_points(transform);
      EXPECT_LE(experiment.error(transform, false), allowed_error(c.problem)) << add << " " << m;
    }
  }
}

TEST(NufftAccuracy, ManyMorePointsThanModesAndManyMoreModesThanPoints) {
  for (const char* token :
       {"nufft:type=1,n=3x2,m=40000,prec=f64,tol=1e-8", "nufft:type=2,n=3x2,m=40000,prec=f64,tol=1e-8",
        "nufft:type=1,n=300x200,m=2,prec=f64,tol=1e-8", "nufft:type=2,n=300x200,m=2,prec=f64,tol=1e-8",
        "nufft:type=1,n=1x1x1,m=50,prec=f64,tol=1e-8", "nufft:type=2,n=1x7x1,m=50,prec=f64,tol=1e-8",
        "nufft:type=3,dim=2,m=4000,k=1,prec=f64,tol=1e-8", "nufft:type=3,dim=2,m=1,k=4000,prec=f64,tol=1e-8"}) {
    Case c;
    c.problem = parse_problem(token);
    const Experiment<double> experiment(c);
    Transform transform(token, untuned());
    experiment.set_points(transform);
    EXPECT_LE(experiment.error(transform, false), 3e-8) << token << " " << transform.plan();
  }
}

// Covers two separate windows, points that go directly to the grids or through tiles, one thread and several; grids
// that hold only the part of the transform that is read, and (small oversampling, few modes) whole grids whose windows
// wrap.
TEST(NufftAccuracy, Type3WithTwoDifferentWindowsIsRightBothWays) {
  struct Pair {
    const char *outer, *inner;
    double adjointness;  // deconvolution magnifies rounding
  };
  const Pair pairs[] = {{"pswf(sigma=2.5,width=9)", "pswf(sigma=1.5,width=12)", 1e-13},
                        {"pswf(sigma=1.5,width=12)", "pswf(sigma=2,width=10)", 1e-13},
                        {"pswf(sigma=1.25,width=16)", "pswf(sigma=1.25,width=16)", 1e-10}};
  const char* methods[] = {"spread=subgrid(cap=64,add=lock);interp=tile(cap=64)", "spread=colour_index;interp=direct",
                           "spread=colour_index;interp=tile(cap=64)"};
  int number = 0;
  for (int dim = 1; dim <= 3; ++dim)
    for (const Pair& pair : pairs)
      for (const char* method : methods) {
        Case c;
        c.problem = parse_problem("nufft:type=3,dim=" + std::to_string(dim) + ",m=130,k=120,prec=f64,tol=1e-8");
        const char* tiles[] = {"32", "16x12", "8x8x8"};
        Options options = untuned();
        options.plan = "cpu;threads=" + std::to_string(1 + number++ % 3) + ";type3=compose;window=" + pair.outer +
                       ";inner=" + pair.inner + ";sort=tiles(tile=" + tiles[dim - 1] + ");" + method +
                       ";fft=pruned(rigor=estimate,block=8)";
        const Experiment<double> experiment(c);
        Transform transform(to_token(c.problem), options);
        experiment.set_points(transform);
        EXPECT_LE(experiment.error(transform, false), 3e-8) << options.plan;
        EXPECT_LE(experiment.error(transform, true), 3e-8) << options.plan;
        EXPECT_LE(experiment.adjointness(transform), pair.adjointness) << options.plan;
      }
}

// Sets new points on the same transform: with other sizes of grids, and with the same sizes but other centres.
TEST(NufftAccuracy, Type3FollowsItsPoints) {
  Case c;
  c.problem = parse_problem("nufft:type=3,dim=2,m=300,k=250,prec=f64,tol=1e-9");
  Transform transform(to_token(c.problem), untuned());
  for (const double scale : {1.0, 3.0, 0.01, 1.0}) {
    Experiment<double> experiment(c);
    experiment.scale_targets(scale);
    experiment.set_points(transform);
    EXPECT_LE(experiment.error(transform, false), 3e-9) << scale;
    EXPECT_LE(experiment.error(transform, true), 3e-9) << scale;
  }
}

TEST(NufftAccuracy, ThePapersGaussianType3ReachesTenDigits) {
  for (const char* r : {"2.2", "2.5", "3"}) {
    Case c;
    c.problem = parse_problem("nufft:type=3,dim=2,m=200,k=180,prec=f64,tol=1e-10");
    Options options = untuned();
    options.plan = std::string("cpu;threads=1;type3=gaussian(r=") + r +
                   ");sort=none;spread=atomic;interp=direct;fft=pruned(rigor=estimate,block=16)";
    const Experiment<double> experiment(c);
    Transform transform(to_token(c.problem), options);
    experiment.set_points(transform);
    EXPECT_LE(experiment.error(transform, false), 3e-10) << r;
    EXPECT_LE(experiment.error(transform, true), 3e-10) << r;
  }
}

}  // namespace
}  // namespace fourtune
