// Places of points: at one spot, in clusters, on folds, far outside, no points at all, or coordinates that are not
// numbers.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <string>
#include <vector>

#include "generator/planner/gpu_nufft/published.h"
#include "runtime/backends/emulated/emulated_backend.h"
#include "runtime/backends/emulated/emulator.h"
#include "tests/runtime/emulated_nufft_support.h"
#include "tests/support/turns.h"

namespace fourtune {
namespace {

using test::emulated;
using test::NufftCase;
using test::NufftExperiment;
using test::some_plan;
using test::status_of;
using test::token;

TEST(EmulatedNufftPoints, ManyOnOneSpotOneAloneAndNoneAtAll) {
  for (int dim = 1; dim <= 3; ++dim)
    for (const int type : {1, 2})
      for (const bool windows : {false, true}) {
        if (!test::next_has_turn()) continue;
        std::unique_ptr<Transform> transform;
        // The same transform receives more, fewer and no points.
        for (const auto& [m, spread] :
             {std::pair{60, 1e-3}, std::pair{1, 3.0}, std::pair{0, 1.0}, std::pair{150, 3.14}, std::pair{40, 1e4}}) {
          NufftCase c;
          c.problem = parse_problem(token(type, dim, ",m=" + std::to_string(m) + ",prec=f64,tol=1e-6"));
          c.spread_of_points = spread;
          if (!transform)
            transform =
                std::make_unique<Transform>(token(type, dim, ",prec=f64,tol=1e-6"), emulated(some_plan(dim, windows)));
          const NufftExperiment<double> experiment(c);
          experiment.set_points(*transform);
          const double error = experiment.error(*transform, false), adjoint = experiment.error(*transform, true);
          if (m > 0) {
            EXPECT_LE(error, 3e-6) << to_token(c.problem);
            EXPECT_LE(adjoint, 3e-6) << to_token(c.problem);
          }
          EXPECT_EQ(transform->memory().held, transform->memory().needed);
        }
      }
}

// The processor takes complex arrays on the alignment of their parts; kernels read both parts at once.
TEST(EmulatedNufftPoints, ComplexArraysOffTheirAlignmentAreRefusedByName) {
  for (const std::string& problem :
       {std::string("nufft:type=1,n=8,m=4,prec=f64,tol=1e-4"), std::string("nufft:type=2,n=8,m=4,prec=f64,tol=1e-4"),
        std::string("nufft:type=3,dim=1,m=4,k=4,prec=f64,tol=1e-4")}) {
    Transform transform(problem, emulated(""));
    alignas(64) double points[] = {0.1, 0.2, 0.3, 0.4}, first[32] = {}, second[32] = {};
    const bool targets = problem.find("k=4") != std::string::npos;
    transform.set_points({4, points, nullptr, nullptr, targets ? 4 : 0, targets ? points : nullptr});
    for (const bool adjoint : {false, true})
      for (const int shifted : {0, 1, 2}) {
        double *const values = first + (shifted == 1 ? 1 : 0), *const modes = second + (shifted == 2 ? 1 : 0);
        std::string message;
        const Status status = status_of(
            [&] { adjoint ? transform.execute_adjoint(values, modes) : transform.execute(values, modes); }, &message);
        EXPECT_EQ(status, shifted == 0 ? Status::success : Status::invalid_argument) << problem << " " << message;
        if (shifted > 0) {
          EXPECT_NE(message.find(shifted == 1 ? "execute: point_values" : "execute: mode_values"), std::string::npos)
              << message;
        }
      }
  }
}

// A block sorts up to `segment` points of a coarse bin; one more and several blocks share it.
TEST(EmulatedNufftPoints, CoarseBinsOfExactlyOneSegmentAndOnePointMore) {
  const std::string plan =
      "emulated;window=pswf(sigma=2,width=7,fine=64x64);sort=bins(bin=8x8,placement=two_level,cap=200,segment=512);"
      "spread=points(lanes=8);interp=points(lanes=8);fft=plain";
  Transform transform("nufft:type=1,n=31x30,prec=f64,tol=1e-6", emulated(plan));
  for (const std::int64_t m : {511, 512, 513, 1024, 1025}) {
    // All in one bin: cells of the fine grid are 0.098 radians wide.
    std::vector<double> x, y;
    std::vector<std::complex<double>> c, modes(31 * 30);
    for (std::int64_t j = 0; j < m; ++j) {
      const double at = static_cast<double>(j);
      x.push_back(1.0 + 1e-3 * std::sin(at)), y.push_back(2.0 + 1e-3 * std::cos(3 * at));
      c.emplace_back(std::cos(5 * at), std::sin(7 * at));
    }
    Points points;
    points.m = m, points.x = x.data(), points.y = y.data();
    transform.set_points(points);
    transform.execute(c.data(), modes.data());
    double difference = 0, norm = 0;
    for (int ky = -15; ky < 15; ++ky)
      for (int kx = -15; kx <= 15; ++kx) {
        std::complex<double> sum = 0;
        for (std::size_t j = 0; j < c.size(); ++j) sum += c[j] * std::polar(1.0, -(kx * x[j] + ky * y[j]));
        const auto k = static_cast<std::size_t>(ky + 15) * 31 + static_cast<std::size_t>(kx + 15);
        difference += std::norm(modes[k] - sum), norm += std::norm(sum);
      }
    EXPECT_LE(std::sqrt(difference / norm), 3e-6) << m << " points in one coarse bin";
  }
}

// Points of large coarse bins need a copy. It is in the fine grid if that is large enough; otherwise in memory that is
// allocated when such bins are found, or at once when the points are not checked.
TEST(EmulatedNufftPoints, ClustersFindRoomForTheirCopyInTheGridOrLater) {
  for (const bool small_grid : {false, true})
    for (const bool trust : {false, true})
      for (const bool windows : {false, true}) {
        Options options = emulated(
            std::string("emulated;window=pswf(sigma=2,width=7,fine=") + (small_grid ? "30x24" : "64x64") +
            ");sort=bins(bin=" + (windows ? "8x1,order=slide" : "8x8") +
            ",placement=two_level,cap=200,segment=512);spread=" + (windows ? "window(lanes=8)" : "points(lanes=8)") +
            (windows ? ";interp=window(lanes=8)" : ";interp=points(lanes=8)") + ";fft=plain");
        options.trust_points = trust;
        const std::string text = small_grid ? "nufft:type=1,n=14x11" : "nufft:type=1,n=31x30";
        Transform transform(text + ",prec=f64,tol=1e-6", options);
        std::int64_t held = 0;
        for (const auto& [m, spread] : {std::pair{1400, 3.0}, std::pair{1400, 1e-3}, std::pair{900, 3.14}}) {
          NufftCase c;
          c.problem = parse_problem(text + ",m=" + std::to_string(m) + ",prec=f64,tol=1e-6");
          c.spread_of_points = spread;
          const NufftExperiment<double> experiment(c);
          experiment.set_points(transform);
          EXPECT_LE(experiment.error(transform, false), 3e-6) << options.plan << " " << m << " " << spread;
          EXPECT_LE(experiment.error(transform, true), 3e-6) << options.plan << " " << m << " " << spread;
          const MemoryUse use = transform.memory();
          EXPECT_EQ(use.held, use.needed);
          // A late allocation only adds to the earlier memory.
          if (held > 0 && spread < 1) {
            EXPECT_EQ(use.held > held, small_grid && !trust) << options.plan;
          }
          held = std::max(held, use.held);
        }
      }
}

// Interpolation directly from the grid needs no subproblems. They are listed when the adjoint is first requested, and
// in every later sort.
TEST(EmulatedNufftPoints, SubproblemsAreListedWhenSomeDirectionWantsThem) {
  for (const char* placement : {"two_level", "staged"}) {
    const Options options =
        emulated(std::string("emulated;window=pswf(sigma=2,width=7,fine=64x60);sort=bins(bin=1x1,"
                             "order=bins,placement=") +
                 placement + ",cap=32);spread=tile_owned(lanes=8);interp=points(lanes=8);fft=plain");
    const std::string text = "nufft:type=2,n=31x30";
    Transform transform(text + ",prec=f64,tol=1e-6", options);
    std::int64_t before = 0;
    for (const int m : {700, 1800}) {
      NufftCase c;
      c.problem = parse_problem(text + ",m=" + std::to_string(m) + ",prec=f64,tol=1e-6");
      const NufftExperiment<double> experiment(c);
      experiment.set_points(transform);
      EXPECT_LE(experiment.error(transform, false), 3e-6) << placement;
      if (before == 0) before = transform.memory().held;
      EXPECT_LE(experiment.error(transform, true), 3e-6) << placement;
      EXPECT_LE(experiment.error(transform, false), 3e-6) << placement;
      EXPECT_GT(transform.memory().held, before) << placement;
      EXPECT_EQ(transform.memory().held, transform.memory().needed);
    }
  }
}

TEST(EmulatedNufftPoints, ModesOfNoPointsAreZero) {
  Transform transform(token(1, 2, ",m=0,prec=f32,tol=1e-4"), emulated(some_plan(2, true)));
  transform.set_points({});
  std::vector<std::complex<float>> modes(14 * 11, {7, 7});
  transform.execute(nullptr, modes.data());
  for (const auto& mode : modes) EXPECT_EQ(mode, std::complex<float>(0, 0));
}

TEST(EmulatedNufftPoints, OnFoldsOfTheInterval) {
  for (int dim = 1; dim <= 2; ++dim)
    for (const bool windows : {false, true}) {
      const double pi = 3.14159265358979323846;
      const std::vector<double> x{-pi, pi, 0, 2 * pi, -2 * pi, std::nextafter(pi, 0), 3 * pi, 1e-300, pi / 2};
      const std::vector<double> y(x.rbegin(), x.rend());
      const auto m = static_cast<std::int64_t>(x.size());
      Transform transform(token(2, dim, ",m=9,prec=f64,tol=1e-6,sign=1"), emulated(some_plan(dim, windows)));
      transform.set_points({m, x.data(), dim > 1 ? y.data() : nullptr});
      const std::int64_t nx = dim == 1 ? 41 : 14, ny = dim == 1 ? 1 : 11;
      std::vector<std::complex<double>> modes, values(x.size());
      for (std::int64_t i = 0; i < nx * ny; ++i)
        modes.emplace_back(std::sin(static_cast<double>(i)), std::cos(3.0 * static_cast<double>(i)));
      transform.execute(values.data(), modes.data());
      for (std::size_t j = 0; j < x.size(); ++j) {
        std::complex<double> want = 0;
        for (std::int64_t i = 0; i < nx * ny; ++i)
          want += modes[static_cast<std::size_t>(i)] *
                  std::polar(1.0, static_cast<double>(i % nx - nx / 2) * x[j] +
                                      (dim > 1 ? static_cast<double>(i / nx - ny / 2) * y[j] : 0));
        EXPECT_LE(std::abs(values[j] - want), 2e-5) << x[j];
      }
    }
}

// Coordinates of many turns lose no digits: the sums are those of the exact numbers given. The sort in two levels
// counts cells by a kernel that in f64 finds them in another way.
TEST(EmulatedNufftPoints, FarOutsideTheInterval) {
  for (const int type : {1, 2})
    for (int dim = 1; dim <= 3; ++dim)
      for (const Precision precision : {Precision::f32, Precision::f64})
        for (const char* placement : {"", ",placement=two_level"}) {
          if ((*placement != 0 && precision == Precision::f32) || !test::next_has_turn()) continue;
          NufftCase c;
          c.problem = parse_problem(token(type, dim, std::string(",m=60,prec=") + to_string(precision) + ",tol=1e-4"));
          c.spread_of_points = precision == Precision::f32 ? 1e5 : 1e8;
          std::string plan = some_plan(dim, type == 2);
          plan.insert(plan.find("cap=40") + 6, placement);
          Transform transform(to_token(c.problem), emulated(plan));
          const auto run = [&](auto experiment) {
            experiment.set_points(transform);
            EXPECT_LE(experiment.error(transform, false), 3e-4) << to_token(c.problem) << placement;
            EXPECT_LE(experiment.error(transform, true), 3e-4) << to_token(c.problem) << placement;
          };
          precision == Precision::f32 ? run(NufftExperiment<float>(c)) : run(NufftExperiment<double>(c));
        }
}

// A double of 1e22 is a position only to within a million turns, but as an exact number it has a known sine and a known
// cell. The same holds up to the largest number of either precision.
template <class T>
void expect_folded(const std::vector<T>& x, const char* rest, double allowed) {
  std::vector<std::complex<T>> ones(x.size(), 1), modes(41);
  for (const char* backend : {"emulated", "cpu"}) {
    Options options = emulated(backend == std::string("cpu") ? "" : some_plan(1, false));
    options.backend = backend;
    Transform transform(token(1, 1, rest), options);
    transform.set_points({static_cast<std::int64_t>(x.size()), x.data()});
    transform.execute(ones.data(), modes.data());
    std::complex<double> want = 0;
    for (const double at : x) want += std::complex<double>(std::cos(at), std::sin(at));
    EXPECT_LE(std::abs(std::complex<double>(modes[21]) - want), allowed) << backend << rest;  // k = 1
  }
}
TEST(EmulatedNufftPoints, OfVeryManyTurnsAreFoldedAsTheNumbersThatTheyAre) {
  constexpr double kMost = std::numeric_limits<double>::max();
  expect_folded<double>({1e10, -3e13, 1e16, 1e17, -5e18, 1e20, 1e22, -1e22, 0.5}, ",prec=f64,tol=1e-6,sign=1", 1e-5);
  expect_folded<double>({1e25, -1e40, 7e60, 1e99, -3e150, 2e222, 1e300, -kMost, kMost / 3}, ",prec=f64,tol=1e-6,sign=1",
                        1e-5);
  constexpr float kMostSingle = std::numeric_limits<float>::max();
  expect_folded<float>({1e6f, -3e9f, 1e12f, 7e12f, -1e13f, 1e20f, -3e30f, kMostSingle, -kMostSingle / 3, 0.5f},
                       ",prec=f32,tol=1e-5,sign=1", 1e-4);
}

// The grid of what is spread alone may begin at -pi: then points are where others, half a period on, are on a grid that
// begins at 0. Those are folded by the C library here.
template <class T>
void expect_half_a_turn(const std::vector<T>& x, const std::string& plan, double allowed) {
  Options options = emulated(plan);
  options.backend = plan.substr(0, plan.find(';'));
  std::vector<double> on, y(x.size());
  for (std::size_t j = 0; j < x.size(); ++j) {
    const auto at = static_cast<double>(x[j]);
    on.push_back(std::atan2(std::sin(at), std::cos(at)) + std::acos(-1.0));
    y[j] = 0.5 * static_cast<double>(j) - 2;
  }
  const std::vector<T> own_y(y.begin(), y.end());
  for (double& at : y) at += std::acos(-1.0);
  const auto m = static_cast<std::int64_t>(x.size());
  const std::string precision = sizeof(T) == 4 ? ",prec=f32,tol=1e-4" : ",prec=f64,tol=1e-4";
  std::vector<std::complex<double>> ones(x.size(), 1), right(14 * 11);
  options.only = Only::spread;
  Transform from_zero(token(1, 2, ",prec=f64,tol=1e-4"), options);
  from_zero.set_points({m, on.data(), y.data()});
  from_zero.execute(ones.data(), right.data());
  options.only = Only::spread_centred;
  Transform centred(token(1, 2, precision), options);
  std::vector<std::complex<T>> own_ones(x.size(), 1), grid(14 * 11);
  centred.set_points({m, x.data(), own_y.data()});
  centred.execute(own_ones.data(), grid.data());
  options.only = Only::interpolate_centred;
  Transform back(token(2, 2, precision), options);
  std::vector<std::complex<T>> values(x.size());
  back.set_points({m, x.data(), own_y.data()});
  back.execute(values.data(), grid.data());
  double off = 0, squares = 0;
  for (std::size_t i = 0; i < grid.size(); ++i) {
    off = std::max(off, std::abs(std::complex<double>(grid[i]) - right[i]));
    squares += std::norm(std::complex<double>(grid[i]));
  }
  EXPECT_LE(off, allowed) << plan;
  std::complex<double> sum = 0;  // <1, S* S 1>
  for (const auto& value : values) sum += std::complex<double>(value);
  EXPECT_NEAR(sum.real(), squares, allowed * squares) << plan;
}
TEST(EmulatedNufftPoints, OnGridsThatBeginAtMinusPiKeepTheirDigitsAtAnyDistance) {
  const auto published = [](const char* precision) {
    const Problem problem = parse_problem(token(1, 2, std::string(",m=12,prec=") + precision + ",tol=1e-4"));
    return generator::to_text(*generator::gpu_nufft::published_plan(problem, runtime::emulated::emulated_traits(),
                                                                    generator::gpu_nufft::Published::gm_sort),
                              problem);
  };
  const std::string processor =
      "cpu;threads=1;window=pswf(sigma=2,width=7,fine=30x24);sort=tiles(tile=16x16);spread=subgrid(cap=512,add=lock);interp=tile(cap=512);"
      "fft=pruned(rigor=estimate,block=16)";
  const std::vector<double> far{0.5, -3, 3.2, 1e10, -3e13, 1e16, 1e17, -5e18, 1e20, 1e22, 1e300, -2e222};
  const std::vector<float> far_single{0.5f, -3, 3.2f, 1e6f, -3e9f, 1e12f, 7e12f, -1e13f, 1e20f, -3e30f, 3e38f, -100};
  for (const std::string& plan : {some_plan(2, false), some_plan(2, true), processor}) {
    expect_half_a_turn<double>(far, plan, 1e-9);
    expect_half_a_turn<float>(far_single, plan, 2e-5);
  }
  expect_half_a_turn<double>({0.5, -3, 3.2, 1e4, -3e5, 1e10, -100, 7}, published("f64"), 1e-6);
}

// Trusted points are not checked: points that are not numbers corrupt what they touch, and nothing else. Reads of the
// other points are right, results of both directions are in their places, and no kernel leaves its arrays (the emulator
// checks this).
TEST(EmulatedNufftPoints, TrustedOnesThatAreNoNumbersSpoilTheirOwnReadsAlone) {
  const std::vector<std::size_t> bad{3, 9, 20, 21};
  for (const bool windows : {false, true})
    for (const Precision precision : {Precision::f32, Precision::f64}) {
      const auto run = [&](auto zero) {
        using T = decltype(zero);
        const std::string rest = std::string(",m=40,prec=") + to_string(precision) + ",tol=1e-4";
        SCOPED_TRACE(rest + (windows ? " windows" : ""));
        std::vector<T> x, y;
        for (int j = 0; j < 40; ++j)
          x.push_back(static_cast<T>(std::sin(j * j))), y.push_back(static_cast<T>(2 * std::cos(3 * j)));
        const std::vector<T> good_x = x, good_y = y;
        x[3] = std::numeric_limits<T>::quiet_NaN();
        x[9] = std::numeric_limits<T>::infinity();
        y[20] = -std::numeric_limits<T>::infinity();
        y[21] = std::numeric_limits<T>::max();
        Options options = emulated(some_plan(2, windows));
        EXPECT_EQ(status_of([&] {
                    Transform(token(1, 2, rest), options).set_points({40, x.data(), y.data()});
                  }),
                  Status::invalid_point)
            << "those that are not trusted are looked at";
        options.trust_points = true;
        std::vector<std::complex<T>> values(42, 1), modes(14 * 11 + 2), expected(40);
        for (std::size_t k = 0; k < modes.size(); ++k) modes[k] = std::polar(T(1), static_cast<T>(k));
        const auto last_modes = std::pair(modes[14 * 11], modes[14 * 11 + 1]);
        // Type 2, and the adjoint of type 1: from modes to points.
        for (const int type : {1, 2}) {
          Transform transform(token(type, 2, rest), options);
          const auto read = [&](const std::vector<T>& u, const std::vector<T>& v, std::complex<T>* out) {
            transform.set_points({40, u.data(), v.data()});
            type == 2 ? transform.execute(out, modes.data()) : transform.execute_adjoint(out, modes.data());
          };
          read(good_x, good_y, expected.data());
          read(x, y, values.data());
          for (std::size_t j = 0; j < 40; ++j)
            if (std::find(bad.begin(), bad.end(), j) == bad.end()) {
              EXPECT_LE(std::abs(values[j] - expected[j]), 1e-3 * (1 + std::abs(expected[j]))) << type << " " << j;
            }
          EXPECT_EQ(values[40], std::complex<T>(1)) << type;
          // From points to modes: only the modes are corrupted, and good points later give good modes again.
          std::vector<std::complex<T>> strengths(40, 1), spoilt(modes), fresh(14 * 11);
          const auto write = [&](std::complex<T>* out) {
            type == 1 ? transform.execute(strengths.data(), out) : transform.execute_adjoint(strengths.data(), out);
          };
          write(spoilt.data());
          EXPECT_EQ(std::pair(spoilt[14 * 11], spoilt[14 * 11 + 1]), last_modes) << type;
          transform.set_points({40, good_x.data(), good_y.data()});
          write(fresh.data());
          EXPECT_LE(std::abs(fresh[5 * 14 + 7] - std::complex<T>(40)), 0.01) << type << ": mode (0, 0) is the sum";
        }
      };
      precision == Precision::f32 ? run(0.0F) : run(0.0);
    }
}

TEST(EmulatedNufftPoints, TheFirstOneThatIsNotFiniteIsNamed) {
  const float inf = std::numeric_limits<float>::infinity();
  std::vector<float> x(50, 1.0f), y(50, 2.0f);
  y[17] = std::nanf("");
  x[30] = inf;
  Transform transform(token(1, 2, ",m=50,prec=f32,tol=1e-4"), emulated(some_plan(2, true)));
  std::string message;
  EXPECT_EQ(status_of([&] { transform.set_points({50, x.data(), y.data()}); }, &message), Status::invalid_point);
  EXPECT_NE(message.find("point 17: coordinate y"), std::string::npos) << message;
  std::vector<std::complex<float>> values(50), modes(14 * 11);
  EXPECT_EQ(status_of([&] { transform.execute(values.data(), modes.data()); }), Status::points_not_set);
  y[17] = x[30] = 0;
  transform.set_points({50, x.data(), y.data()});
  transform.execute(values.data(), modes.data());

  Options trusting = emulated(some_plan(2, true));
  trusting.trust_points = true;
  Transform trusted(token(1, 2, ",m=50,prec=f32,tol=1e-4"), trusting);
  y[17] = std::nanf("");
  EXPECT_EQ(status_of([&] { trusted.set_points({50, x.data(), y.data()}); }), Status::success);
}

}  // namespace
}  // namespace fourtune
