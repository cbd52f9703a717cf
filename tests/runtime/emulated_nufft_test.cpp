// Nonuniform transforms on the emulated backend, through the public interface: direct sums, adjointness, tolerance.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "generator/fft/any_size.h"
#include "generator/gpu_nufft_fft.h"
#include "generator/window.h"
#include "runtime/emulated/emulator.h"
#include "tests/runtime/emulated_nufft_support.h"

namespace fourtune {
namespace {

using generator::WindowKind;
using test::emulated;
using test::NufftCase;
using test::NufftExperiment;
using test::status_of;

template <class T>
void check(const NufftCase& c) {
  Options options = emulated(generator::to_text(c.plan, c.problem));
  options.mode_order = c.options.mode_order;
  SCOPED_TRACE(to_token(c.problem) + "  " + options.plan);
  const NufftExperiment<T> experiment(c);
  Transform transform(to_token(c.problem), options);
  experiment.set_points(transform);
  const double allowed = allowed_error(c.problem);
  EXPECT_LE(experiment.error(transform, false), allowed);
  EXPECT_LE(experiment.error(transform, true), allowed);
  EXPECT_LE(experiment.adjointness(transform), 40 * epsilon(c.problem.precision));
  const MemoryUse use = transform.memory();
  EXPECT_EQ(use.held, use.needed);
}
void check_either(const NufftCase& c) { c.problem.precision == Precision::f32 ? check<float>(c) : check<double>(c); }

class EmulatedNufft : public ::testing::TestWithParam<std::vector<int>> {};
TEST_P(EmulatedNufft, MeetsTheToleranceForwardAndAdjoint) { check_either(test::covering_case(GetParam(), "emulated")); }
INSTANTIATE_TEST_SUITE_P(Covering, EmulatedNufft, ::testing::ValuesIn(test::covering_rows()));

// An FFT written in the notation of the fine grid: the modes ride on its first and last kernel.
TEST(EmulatedNufft, TakesANotationForItsFft) {
  for (const int type : {1, 2}) {
    NufftCase c;
    c.problem = parse_problem("nufft:type=" + std::to_string(type) + ",n=20x12,m=60,prec=f32,tol=1e-4,batch=2");
    c.plan = generator::parse_plan(
        "emulated;window=pswf(sigma=2,width=6,fine=64x24);sort=bins(bin=8x8);spread=points;interp=points;fft=plain;"
        "chunk=2",
        c.problem);
    generator::fft::EmitOptions fine;
    fine.n = {64, 24, 1};
    fine.in_place = true;
    c.plan.gpu_fft = {generator::GpuFftFamily::interleaved, generator::fft::plain_plan(fine)};
    check<float>(c);
  }
}

// Transforms of a batch share weights: groups, smaller ones left over in a chunk and in the last, smaller chunk, and
// the adjoint, which groups in its own way.
TEST(EmulatedNufft, TakesTransformsInGroups) {
  const char* sizes[] = {"21", "12x9", "6x5x7"};
  const char* fine[] = {"48", "24x18", "15x12x14"};
  const char* bins[] = {"16", "8x5", "4x3x4"};
  struct Groups {
    int batch, chunk, spread, interp;
    const char *spreader, *interpolator;
  };
  int number = 0;
  for (int dim = 1; dim <= 3; ++dim)
    for (const Groups& g : {Groups{8, 8, 4, 8, "tile_owned", "tiled"}, Groups{9, 7, 4, 2, "points", "points"},
                            Groups{5, 3, 1, 2, "tile_atomic", "tiled"}, Groups{3, 2, 8, 1, "points", "points"}}) {
      const bool single = number % 2 == 0;
      const int type = 1 + number++ / 2 % 2;
      const auto group = [&](int size) {
        return "(group=" + std::to_string(size) + (size == 4 ? ",interleave=1" : "") + ",warps=2)";
      };
      NufftCase c;
      c.problem = parse_problem("nufft:type=" + std::to_string(type) + ",n=" + sizes[dim - 1] + ",m=80,prec=" +
                                (single ? "f32" : "f64") + ",tol=1e-4,batch=" + std::to_string(g.batch));
      c.plan = generator::parse_plan(std::string("emulated;window=pswf(sigma=2,width=6,fine=") + fine[dim - 1] +
                                         ");sort=bins(order=bins,cap=40,bin=" + bins[dim - 1] +
                                         ");spread=" + g.spreader + group(g.spread) + ";interp=" + g.interpolator +
                                         group(g.interp) + ";fft=plain;chunk=" + std::to_string(g.chunk),
                                     c.problem);
      check_either(c);
    }
}

TEST(EmulatedNufft, GroupsNeedTheirOwnFft) {
  const std::string problem = "nufft:type=2,n=20x12,m=60,prec=f32,tol=1e-4,batch=4";
  const std::string plan =
      "emulated;window=pswf(sigma=2,width=6,fine=40x24);sort=bins(bin=8x8,order=bins);spread=points;"
      "interp=tiled(group=4);fft=cufft;chunk=4";
  EXPECT_EQ(status_of([&] { Transform(problem, emulated(plan)); }), Status::invalid_plan);
  EXPECT_EQ(status_of([&] {
              generator::parse_plan(
                  "emulated;type3=compose;window=pswf(sigma=2,width=6);inner=pswf(sigma=2,width=6);"
                  "sort=none;targets=none;spread=points(group=2);interp=points;fft=plain;chunk=2",
                  parse_problem("nufft:type=3,dim=2,m=10,k=10,prec=f32,tol=1e-4,batch=2"));
            }),
            Status::invalid_plan);
}

// A plan of each kind that tests of other things use.
std::string some_plan(int dim, bool windows) {
  const char* fine[] = {"90", "30x24", "16x18x15"};
  const char* slide[] = {"16", "8x1", "3x3x1"};
  const char* bins[] = {"16", "8x8", "4x4x4"};
  const std::string sort = windows ? std::string("bins(bin=") + slide[dim - 1] + ",order=slide,cap=40)"
                                   : std::string("bins(bin=") + bins[dim - 1] + ",cap=40)";
  return std::string("emulated;window=pswf(sigma=2,width=7,fine=") + fine[dim - 1] + ");sort=" + sort +
         (windows ? ";spread=window(lanes=8);interp=window(lanes=8)" : ";spread=tile_owned;interp=tiled(lanes=8)") +
         ";fft=plain";
}
const char* const kSizes[] = {"41", "14x11", "7x8x6"};

std::string token(int type, int dim, const std::string& rest) {
  return "nufft:type=" + std::to_string(type) + ",n=" + kSizes[dim - 1] + rest;
}

TEST(EmulatedNufftPoints, ManyOnOneSpotOneAloneAndNoneAtAll) {
  for (int dim = 1; dim <= 3; ++dim)
    for (const int type : {1, 2})
      for (const bool windows : {false, true}) {
        std::unique_ptr<Transform> transform;
        // The same transform gets more, fewer and no points.
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

// Points of large coarse bins need a copy: in the fine grid where that is large enough, else in memory that comes when
// they are found, or at once when nobody looks.
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
          // Only what was found late adds to what there was.
          if (held > 0 && spread < 1) {
            EXPECT_EQ(use.held > held, small_grid && !trust) << options.plan;
          }
          held = std::max(held, use.held);
        }
      }
}

// Interpolation straight from the grid wants no subproblems: they are listed when the adjoint is first asked for, and
// in every sort from then on.
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

// Coordinates of many turns lose no digit: the sums are those of the very numbers given.
TEST(EmulatedNufftPoints, FarOutsideTheInterval) {
  for (const int type : {1, 2})
    for (int dim = 1; dim <= 3; ++dim)
      for (const Precision precision : {Precision::f32, Precision::f64}) {
        NufftCase c;
        c.problem = parse_problem(token(type, dim, std::string(",m=60,prec=") + to_string(precision) + ",tol=1e-4"));
        c.spread_of_points = precision == Precision::f32 ? 1e5 : 1e8;
        Transform transform(to_token(c.problem), emulated(some_plan(dim, type == 2)));
        const auto run = [&](auto experiment) {
          experiment.set_points(transform);
          EXPECT_LE(experiment.error(transform, false), 3e-4) << to_token(c.problem);
          EXPECT_LE(experiment.error(transform, true), 3e-4) << to_token(c.problem);
        };
        precision == Precision::f32 ? run(NufftExperiment<float>(c)) : run(NufftExperiment<double>(c));
      }
}

// Of 1e22 a double tells where it is to within a million turns, but it is a number: its sine is known, and so is its
// cell.
TEST(EmulatedNufftPoints, OfVeryManyTurnsAreFoldedAsTheNumbersThatTheyAre) {
  const std::vector<double> x{1e10, -3e13, 1e16, 1e17, -5e18, 1e20, 1e22, -1e22, 0.5};
  std::vector<std::complex<double>> ones(x.size(), 1), modes(41);
  for (const char* backend : {"emulated", "cpu"}) {
    Options options = emulated(backend == std::string("cpu") ? "" : some_plan(1, false));
    options.backend = backend;
    Transform transform(token(1, 1, ",prec=f64,tol=1e-6,sign=1"), options);
    transform.set_points({static_cast<std::int64_t>(x.size()), x.data()});
    transform.execute(ones.data(), modes.data());
    std::complex<double> want = 0;
    for (const double at : x) want += std::complex<double>(std::cos(at), std::sin(at));
    EXPECT_LE(std::abs(modes[21] - want), 1e-5) << backend;  // k = 1
  }
}

// Trusted points are not looked at: those that are no numbers spoil results, and reach no other memory.
TEST(EmulatedNufftPoints, TrustedOnesThatAreNoNumbersStayInBounds) {
  for (const int type : {1, 2})
    for (const bool windows : {false, true})
      for (const Precision precision : {Precision::f32, Precision::f64}) {
        Options options = emulated(some_plan(2, windows));
        options.trust_points = true;
        Transform transform(token(type, 2, std::string(",m=40,prec=") + to_string(precision) + ",tol=1e-4"), options);
        const auto run = [&](auto zero) {
          using T = decltype(zero);
          std::vector<T> x(40, 1), y(40, -2);
          x[3] = std::numeric_limits<T>::quiet_NaN();
          x[9] = std::numeric_limits<T>::infinity();
          y[20] = -std::numeric_limits<T>::infinity();
          y[21] = std::numeric_limits<T>::max();
          transform.set_points({40, x.data(), y.data()});
          std::vector<std::complex<T>> values(40, 1), modes(14 * 11, 1);
          transform.execute(values.data(), modes.data());
          transform.execute_adjoint(values.data(), modes.data());
        };
        precision == Precision::f32 ? run(0.0f) : run(0.0);
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

TEST(EmulatedNufft, SpreadsAndInterpolatesAlone) {
  // Spreading constants and reading a constant grid: sums of weights, and adjoints of each other.
  const std::string plan =
      "emulated;window=pswf(sigma=2,width=5,fine=14x11);sort=bins(bin=8x1,order=slide,cap=40);spread=window(lanes=8);"
      "interp=window(lanes=8);fft=plain";
  Options options = emulated(plan);
  options.only = Only::spread;
  Transform spread(token(1, 2, ",m=70,prec=f64,tol=1e-4"), options);
  options.only = Only::interpolate;
  Transform interpolate(token(2, 2, ",m=70,prec=f64,tol=1e-4"), options);
  std::vector<double> x, y;
  for (int j = 0; j < 70; ++j) x.push_back(0.1 * j * j), y.push_back(7.0 / (j + 1) - 2);
  for (Transform* each : {&spread, &interpolate}) each->set_points({70, x.data(), y.data()});
  std::vector<std::complex<double>> values, cells(14 * 11), grid, back(70), other(70);
  for (int j = 0; j < 70; ++j) values.emplace_back(std::cos(j), std::sin(2 * j));
  for (int i = 0; i < 14 * 11; ++i) grid.emplace_back(std::cos(3 * i), std::sin(i));
  spread.execute(values.data(), cells.data());
  interpolate.execute(back.data(), grid.data());
  spread.execute_adjoint(other.data(), grid.data());
  std::complex<double> left = 0, right = 0;
  for (std::size_t i = 0; i < cells.size(); ++i) left += cells[i] * std::conj(grid[i]);
  for (std::size_t j = 0; j < back.size(); ++j) {
    right += values[j] * std::conj(back[j]);
    EXPECT_LE(std::abs(back[j] - other[j]), 1e-12);
  }
  EXPECT_LE(std::abs(left - right), 1e-11);
  EXPECT_GT(std::abs(left), 0.1);
}

TEST(EmulatedNufft, TimesItsStages) {
  runtime::ExecutorOptions options;
  options.time_stages = true;
  const runtime::emulated::EmulatedBackend backend(runtime::gpu::library_programs());
  for (const int type : {1, 2}) {
    const Problem problem = parse_problem(token(type, 1, ",m=20,prec=f32,tol=1e-4,batch=3"));
    const auto executor =
        backend.bind(problem, generator::parse_plan(some_plan(1, false) + ";chunk=2", problem), options);
    const std::vector<float> x(20, 0.5f);
    executor->set_points({20, x.data()});
    std::vector<std::complex<float>> values(60), modes(123);
    executor->execute(values.data(), modes.data(), false);
    std::string names;
    for (const StageTime& time : executor->stage_times()) {
      names += time.stage + " ";
      EXPECT_GT(time.seconds, 0);
    }
    EXPECT_EQ(names, type == 1 ? "sort spread fft " : "sort fft interpolate ");
  }
}

TEST(EmulatedNufft, RefusesWhatItCannotDo) {
  std::string message;
  const auto made = [&](const std::string& plan, const std::function<void(Options&)>& change = {}) {
    Options options = emulated(plan);
    if (change) change(options);
    return status_of([&] { Transform(token(1, 2, ",m=50,prec=f32,tol=1e-4"), options); }, &message);
  };
  const std::string good = some_plan(2, true);
  EXPECT_EQ(made(good), Status::success);
  EXPECT_EQ(made(good.substr(0, good.size() - 5) + "cufft"), Status::unsupported);
  EXPECT_NE(message.find("no FFT library"), std::string::npos) << message;
}

// Threads and blocks in random order, other ones each time: sums of floating-point numbers would differ.
TEST(EmulatedNufft, DeterministicSpreadingGivesTheSameBits) {
  runtime::emulated::RunOptions random;
  random.threads = random.blocks = runtime::emulated::Order::random;
  const runtime::emulated::EmulatedBackend backend(runtime::gpu::library_programs(), random);
  runtime::ExecutorOptions options;
  options.deterministic = true;
  std::vector<float> x, y;
  for (int j = 0; j < 300; ++j)
    x.push_back(std::sin(static_cast<float>(j * j))), y.push_back(std::cos(static_cast<float>(3 * j)));
  for (const int type : {1, 2}) {
    const Problem problem = parse_problem(token(type, 2, ",m=300,prec=f32,tol=1e-4"));
    const auto executor = backend.bind(problem, generator::parse_plan(some_plan(2, true), problem), options);
    std::vector<std::complex<float>> values(300), first;
    for (std::size_t j = 0; j < values.size(); ++j) values[j] = {1.0f / static_cast<float>(j + 1), 2.0f};
    for (int round = 0; round < 3; ++round) {
      executor->set_points({300, x.data(), y.data()});
      std::vector<std::complex<float>> modes(14 * 11);
      executor->execute(values.data(), modes.data(), type == 2);
      if (round == 0) first = modes;
      EXPECT_EQ(std::memcmp(first.data(), modes.data(), modes.size() * 8), 0);
      std::complex<double> sum = 0, want = 0;  // mode (0, 0) is the sum of the strengths
      for (const auto& value : values) want += std::complex<double>(value);
      sum = std::complex<double>(modes[5 * 14 + 7]);
      EXPECT_LE(std::abs(sum - want), 1e-3 * std::abs(want));
    }
  }
}

// Races, bounds and reads of what nobody wrote, in every kernel of a whole transform.
TEST(EmulatedNufft, HasNoRacesAndReadsNothingThatWasNotWritten) {
  for (const int type : {1, 2}) {
    runtime::emulated::RunOptions checks;
    checks.instrumented = true;
    const runtime::emulated::EmulatedBackend backend(runtime::gpu::library_programs(), checks);
    const Problem problem = parse_problem("nufft:type=" + std::to_string(type) + ",n=7x8x6,m=60,prec=f32,tol=1e-4");
    const auto executor = backend.bind(problem, generator::parse_plan(some_plan(3, true), problem), {});
    std::vector<float> x, y, z;
    for (int j = 0; j < 60; ++j) {
      x.push_back(0.1f * static_cast<float>(j));
      y.push_back(0.01f * static_cast<float>(j * j));
      z.push_back(std::sin(static_cast<float>(j)));
    }
    executor->set_points({60, x.data(), y.data(), z.data()});
    std::vector<std::complex<float>> values(60, {1, 2}), modes(7 * 8 * 6, {3, 4});
    executor->execute(values.data(), modes.data(), false);
    executor->execute(values.data(), modes.data(), true);
  }
}

// One program after the other, with the same workspaces.
generator::GpuProgram joined(generator::GpuProgram a, const generator::GpuProgram& b) {
  for (generator::Launch launch : b.launches) {
    launch.kernel += static_cast<int>(a.kernels.size());
    for (auto& argument : launch.arguments)
      if (auto* ref = std::get_if<generator::BufferRef>(&argument);
          ref && ref->where == generator::BufferRef::Where::constant)
        ref->index += static_cast<int>(a.constants.size());
    a.launches.push_back(std::move(launch));
  }
  a.kernels.insert(a.kernels.end(), b.kernels.begin(), b.kernels.end());
  a.constants.insert(a.constants.end(), b.constants.begin(), b.constants.end());
  a.workspace_bytes.resize(std::max(a.workspace_bytes.size(), b.workspace_bytes.size()));
  for (std::size_t i = 0; i < b.workspace_bytes.size(); ++i)
    a.workspace_bytes[i] = std::max(a.workspace_bytes[i], b.workspace_bytes[i]);
  return a;
}

// Both directions give the same with workspaces and in the grid's memory, where a block that wrote what another one
// still had to read would show: blocks and threads come in random order.
TEST(GridFfts, WorkInTheGridsMemory) {
  using namespace generator::gpu_nufft;
  using generator::BufferRef;
  const BufferRef grid{BufferRef::Where::workspace, 0, 0}, first{BufferRef::Where::first, 0, 0},
      second{BufferRef::Where::second, 0, 0};
  for (const auto& [fine, n] :
       {std::pair<std::array<std::int64_t, 3>, std::array<std::int64_t, 3>>{{64, 48, 1}, {32, 24, 1}},
        {{64, 60, 1}, {41, 50, 1}},
        {{32, 24, 20}, {16, 12, 10}},
        {{24, 30, 32}, {17, 20, 25}}}) {
    GridFft spec;
    spec.dim = fine[2] > 1 ? 3 : 2;
    spec.precision = Precision::f64;
    spec.modes = n, spec.fine = fine;
    const generator::Window window(WindowKind::pswf, 4, 1.5);
    for (std::size_t d = 0; d < 3; ++d) spec.factors[d] = deconvolution_factors(window, fine[d], n[d], spec.order);
    const std::int64_t bytes = fine[0] * fine[1] * fine[2] * 16;
    const auto count = static_cast<std::size_t>(n[0] * n[1] * n[2]);
    std::vector<std::complex<double>> given;
    for (std::size_t i = 0; i < count; ++i) given.emplace_back(std::sin(7.0 * i), std::cos(3.0 * i * i));
    const auto run = [&](bool to_modes, bool save) {
      spec.save_memory = save;
      auto fft = placed(grid_fft(spec, {}, to_modes), to_modes ? grid : first, to_modes ? second : grid, 1);
      if (save) share_grid(fft, 0, bytes, 1);
      if (save && fine[0] >= 2 * n[0]) {
        for (const std::int64_t left : fft.workspace_bytes) EXPECT_EQ(left, 0) << "nothing is left";
      }
      if (save && spec.dim == 2) {
        EXPECT_EQ(fft.workspace_bytes[1], 0);
      }
      const auto copy = placed(grid_copy(spec, !to_modes), to_modes ? first : grid, to_modes ? grid : second, 1);
      auto program = to_modes ? joined(copy, fft) : joined(fft, copy);
      program.workspace_bytes[0] = bytes;
      std::vector<std::complex<double>> in = given, out(count);
      runtime::emulated::RunOptions random;
      random.threads = random.blocks = runtime::emulated::Order::random;
      random.instrumented = save && spec.dim == 3;  // and races
      run_program(program, std::as_writable_bytes(std::span(in)), std::as_writable_bytes(std::span(out)), random);
      return out;
    };
    for (const bool to_modes : {false, true}) {
      const auto usual = run(to_modes, false), saved = run(to_modes, true);
      double error = 0, size = 0;
      for (std::size_t i = 0; i < count; ++i) error += std::norm(usual[i] - saved[i]), size += std::norm(usual[i]);
      EXPECT_LE(error, 1e-26 * size) << fine[0] << " " << fine[1] << " " << fine[2] << " " << to_modes;
      EXPECT_GT(size, 0);
    }
  }
}

// The kernels around a library's transform: every mode to its cell, times its factors, and back.
TEST(GridCopies, PadAndTruncate) {
  using namespace generator::gpu_nufft;
  for (const auto order : {generator::fft::Window::Kind::centred, generator::fft::Window::Kind::wrapped})
    for (const std::array<std::int64_t, 3> n : {std::array<std::int64_t, 3>{5, 4, 3}, {6, 1, 2}}) {
      GridFft spec;
      spec.precision = Precision::f64;
      spec.batch = 2;
      spec.modes = n;
      spec.fine = {9, 8, 6};
      spec.order = order;
      const generator::Window window(WindowKind::pswf, 4, 1.5);
      for (std::size_t d = 0; d < 3; ++d) spec.factors[d] = deconvolution_factors(window, spec.fine[d], n[d], order);
      const auto cells = static_cast<std::size_t>(9 * 8 * 6), count = static_cast<std::size_t>(n[0] * n[1] * n[2]);
      std::vector<std::complex<double>> modes(2 * count), grid(2 * cells), want(2 * cells), back(2 * count);
      for (std::size_t i = 0; i < modes.size(); ++i) modes[i] = {1.0 + static_cast<double>(i), -2.0};
      const auto bytes = [](auto& v) { return std::as_writable_bytes(std::span(v)); };
      runtime::emulated::RunOptions checks;
      checks.instrumented = true;
      run_program(grid_copy(spec, false), bytes(modes), bytes(grid), checks);
      const auto cell = [&](std::size_t d, std::int64_t i) {
        std::int64_t k = order == generator::fft::Window::Kind::centred ? i - n[d] / 2
                         : i < (n[d] + 1) / 2                           ? i
                                                                        : i - n[d];
        return k < 0 ? k + spec.fine[d] : k;
      };
      std::vector<double> squares;
      for (std::size_t b = 0; b < 2; ++b)
        for (std::size_t i = 0; i < count; ++i) {
          const auto x = static_cast<std::int64_t>(i) % n[0], y = static_cast<std::int64_t>(i) / n[0] % n[1],
                     z = static_cast<std::int64_t>(i) / n[0] / n[1];
          const double factor = spec.factors[0][static_cast<std::size_t>(x)] *
                                spec.factors[1][static_cast<std::size_t>(y)] *
                                spec.factors[2][static_cast<std::size_t>(z)];
          want[b * cells + static_cast<std::size_t>((cell(2, z) * 8 + cell(1, y)) * 9 + cell(0, x))] =
              factor * modes[b * count + i];
          squares.push_back(factor * factor);
        }
      for (std::size_t i = 0; i < want.size(); ++i) EXPECT_LE(std::abs(want[i] - grid[i]), 1e-9) << i;
      run_program(grid_copy(spec, true), bytes(grid), bytes(back), checks);
      for (std::size_t i = 0; i < back.size(); ++i) EXPECT_LE(std::abs(back[i] - squares[i] * modes[i]), 1e-8) << i;
    }
}

}  // namespace
}  // namespace fourtune
