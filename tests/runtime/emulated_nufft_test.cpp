// Nonuniform transforms on the emulated backend, through the public interface: direct sums, adjointness, tolerance.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "generator/codegen/fft/any_length/any_size.h"
#include "runtime/backends/emulated/emulator.h"
#include "tests/runtime/emulated_nufft_support.h"

namespace fourtune {
namespace {

using test::emulated;
using test::NufftCase;
using test::NufftExperiment;
using test::some_plan;
using test::status_of;
using test::token;

template <class T>
void check(const NufftCase& c) {
  Options options = emulated(generator::to_text(c.plan, c.problem));
  options.mode_order = c.options.mode_order;
  SCOPED_TRACE(to_token(c.problem) + "  " + options.plan);
  const NufftExperiment<T> experiment(c);
  Transform transform(to_token(c.problem), options);
  experiment.expect_right(transform, 40);
  const MemoryUse use = transform.memory();
  EXPECT_EQ(use.held, use.needed);
}
void check_either(const NufftCase& c) { c.problem.precision == Precision::f32 ? check<float>(c) : check<double>(c); }

class EmulatedNufft : public ::testing::TestWithParam<std::vector<int>> {};
TEST_P(EmulatedNufft, MeetsTheToleranceForwardAndAdjoint) { check_either(test::covering_case(GetParam(), "emulated")); }
INSTANTIATE_TEST_SUITE_P(Covering, EmulatedNufft, ::testing::ValuesIn(test::covering_rows()));

// An FFT of the fine grid, given in the notation: its first and last kernels also handle the modes.
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
    c.plan.gpu().fft = {generator::GpuFftFamily::interleaved, generator::fft::plain_plan(fine)};
    check<float>(c);
  }
}

// Transforms of a batch share weights: tests groups, smaller groups left over in a chunk and in the smaller last chunk,
// and the adjoint, which uses separate groups.
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

// Cells to which no transform of a piece adds are passed over, those to which one of two adds are not.
TEST(EmulatedNufft, ZerosOfOneTransformLeaveTheOthersOfItsGroupAlone) {
  const std::string plan =
      "emulated;window=pswf(sigma=2,width=6,fine=24x18);sort=bins(order=bins,cap=40,bin=8x5);"
      "spread=tile_owned(group=2,warps=2);interp=points(group=2,warps=2);fft=plain;chunk=2";
  Transform transform("nufft:type=1,n=12x9,m=80,prec=f32,tol=1e-4,batch=2", emulated(plan));
  std::vector<float> x, y;
  for (int j = 0; j < 80; ++j)
    x.push_back(3 * std::sin(static_cast<float>(j))), y.push_back(3 * std::cos(static_cast<float>(j * j)));
  transform.set_points({80, x.data(), y.data()});
  for (const std::size_t zero : {0, 1}) {
    std::vector<std::complex<float>> strengths(160, 1), modes(216);
    for (std::size_t j = 0; j < 80; ++j) strengths[80 * zero + j] = 0;
    transform.execute(strengths.data(), modes.data());
    const std::size_t middle = 4 * 12 + 6;  // the mode that is the sum
    EXPECT_LE(std::abs(modes[108 * zero + middle]), 0.02) << zero;
    EXPECT_LE(std::abs(modes[108 * (1 - zero) + middle] - std::complex<float>(80)), 0.02) << zero;
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

TEST(EmulatedNufft, SpreadsAndInterpolatesAlone) {
  // Spreading constants and reading a constant grid give sums of weights, and are adjoints of each other.
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

// The plan is made for the fine grid of a whole transform, whose rows are even; kernels that add pairs of cells do not
// take the caller's odd rows.
TEST(EmulatedNufft, SpreadsAloneOntoOddRowsAndRefusesGridsBelowTheWindow) {
  for (const char* const sizes : {"35x42x32", "33x20", "31"}) {
    const std::string problem = std::string("nufft:type=1,n=") + sizes + ",m=50,prec=f32,tol=9e-3";
    Options options = emulated("");
    options.only = Only::spread;
    Transform transform(problem, options);
    std::vector<float> x(50);
    for (int j = 0; j < 50; ++j) x[static_cast<std::size_t>(j)] = 0.12F * static_cast<float>(j) - 3;
    const int dim = transform.problem().dim;
    transform.set_points({50, x.data(), dim > 1 ? x.data() : nullptr, dim > 2 ? x.data() : nullptr});
    const std::vector<std::complex<float>> ones(50, 1.0F);
    std::vector<std::complex<float>> grid(static_cast<std::size_t>(mode_count(transform.problem())));
    transform.execute(const_cast<std::complex<float>*>(ones.data()), grid.data());
    std::complex<double> all = 0;
    for (const auto& cell : grid) all += std::complex<double>(cell);
    EXPECT_GT(all.real(), 50) << sizes;  // the sum of a point's weights is above 1
  }
  Options options = emulated("");
  options.only = Only::spread;
  EXPECT_EQ(status_of([&] { Transform("nufft:type=1,n=3x60,m=5,prec=f32,tol=1e-4", options); }), Status::unsupported);
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

// Threads and blocks run in a different random order each time, which would change sums of floating-point numbers.
TEST(EmulatedNufft, DeterministicSpreadingGivesTheSameBits) {
  runtime::emulated::RunOptions random;
  random.threads = random.blocks = runtime::emulated::ExecutionOrder::random;
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

// Checks races, bounds and reads of unwritten values in every kernel of a whole transform.
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

// The word for a bad point is cleared by a kernel that may still run, so whoever finds one waits before it writes.
TEST(EmulatedNufft, BadPointsAreNotedBehindTheKernelAhead) {
  runtime::emulated::RunOptions checks;
  checks.instrumented = true;
  const runtime::emulated::EmulatedBackend backend(runtime::gpu::library_programs(), checks);
  const Problem problem = parse_problem("nufft:type=1,n=14x11,m=60,prec=f32,tol=1e-4");
  for (const bool windows : {false, true}) {
    const auto executor = backend.bind(problem, generator::parse_plan(some_plan(2, windows), problem), {});
    std::vector<float> x(60, 0.5f), y(60, 1.5f);
    y[7] = std::numeric_limits<float>::infinity();
    std::string message;
    EXPECT_EQ(status_of([&] { executor->set_points({60, x.data(), y.data()}); }, &message), Status::invalid_point);
    EXPECT_NE(message.find("point 7"), std::string::npos) << message;
  }
}

}  // namespace
}  // namespace fourtune
