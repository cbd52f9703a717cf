// Plans for GPUs that do not exist and differ from each other in every number: candidates are listed and their kernels
// written from DeviceTraits alone, so a number of some real device that stands in the code shows here.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/known_devices.h"
#include "fourtune/status.h"
#include "generator/candidates.h"
#include "generator/plan/nufft/thresholds.h"
#include "generator/planner/gpu_fft/program.h"
#include "generator/planner/gpu_nufft/choices.h"
#include "generator/window/polynomial.h"

namespace fourtune::generator {
namespace {

constexpr std::int64_t KiB = 1024, MiB = KiB * KiB, GiB = MiB * KiB;

struct Numbers {
  const char* name;
  int compute_capability, multiprocessors, threads, registers;
  std::int64_t shared;  // of a block
  int cluster;
  std::int64_t l2, memory;
  double clock, bandwidth;
};
constexpr Numbers kInvented[] = {
    {"one slow multiprocessor", 75, 1, 1024, 32768, 48 * KiB, 1, 512 * KiB, GiB, 0.3e9, 2e10},
    {"seven of an odd size", 80, 7, 1536, 65536, 80 * KiB, 1, 3 * MiB, 5 * GiB, 0.9e9, 1.1e11},
    {"wide and short of shared memory", 89, 211, 1536, 49152, 64 * KiB, 1, 200 * MiB, 40 * GiB, 2.7e9, 9e11},
    {"clusters of four", 90, 61, 2048, 65536, 160 * KiB, 4, 30 * MiB, 24 * GiB, 1.2e9, 2.5e12},
    {"large in everything", 120, 900, 2048, 131072, 227 * KiB, 16, GiB, 900 * GiB, 3.3e9, 4e13},
};

DeviceTraits invented(const Numbers& numbers) {
  DeviceTraits out;
  out.backend = "emulated";  // no library to fall back on
  out.name = numbers.name;
  out.isa = "sm_" + std::to_string(numbers.compute_capability);
  out.l2_bytes = numbers.l2;
  out.memory_bytes = numbers.memory;
  out.compute_capability = numbers.compute_capability;
  out.multiprocessors = numbers.multiprocessors;
  out.threads_per_multiprocessor = numbers.threads;
  out.registers_per_multiprocessor = numbers.registers;
  out.shared_per_multiprocessor = numbers.shared + KiB;
  out.shared_per_block = numbers.shared;
  out.cluster_blocks = numbers.cluster;
  out.clock_hz = numbers.clock;
  out.memory_bandwidth = numbers.bandwidth;
  return out;
}

// The default, and some of the candidates from the first to the last.
std::vector<Plan> plans_of(const Problem& problem, const DeviceTraits& device) {
  std::vector<Plan> plans{default_plan(problem, device)};
  const Space space = candidates(problem, device);
  for (std::size_t i = 0; i < space.candidates.size(); i += 1 + space.candidates.size() / 10)
    plans.push_back(space.candidates[i].plan);
  return plans;
}

unsigned product(const Extent3& extent) { return extent[0] * extent[1] * extent[2]; }

void expect_within(const GpuProgram& program, const DeviceTraits& device) {
  ASSERT_FALSE(program.kernels.empty());
  for (const KernelSource& kernel : program.kernels) {
    EXPECT_LE(static_cast<std::int64_t>(kernel.shared_bytes), device.shared_per_block) << kernel.entry;
    EXPECT_LE(product(kernel.block), 1024u) << kernel.entry;
    EXPECT_LE(product(kernel.cluster), static_cast<unsigned>(device.cluster_blocks)) << kernel.entry;
  }
}

GpuProgram nufft_program(const Plan& plan, const Problem& problem, const DeviceTraits& device) {
  const nufft::Shape shape = nufft::shape_on(device, problem, plan.window.fine, plan.window.width);
  const PiecewisePolynomial polynomial =
      kernel_polynomial({plan.window.kind, plan.window.width, plan.window.sigma}, epsilon(problem.precision));
  const GpuPointsChoice& points = plan.gpu().points;
  const nufft::StageKernels spread(shape, points.spread_with, polynomial),
      interpolate(shape, points.interp_with, polynomial);
  nufft::Arrays arrays;
  GpuProgram program;
  const std::int64_t m = problem.m.value();
  spread.emit_sort(program, arrays, m, {}, spread.large_bytes(m, m));
  spread.emit_spread(program, arrays, m, 1, points.spread);
  interpolate.emit_interpolate(program, arrays, m, 1, points.interp);
  return program;
}

TEST(InventedDevices, HaveCandidatesWhoseKernelsFitThem) {
  for (const Numbers& numbers : kInvented) {
    const DeviceTraits device = invented(numbers);
    for (const char* token :
         {"fft:type=c2c,n=6000,prec=f64,batch=30", "fft:type=r2c,n=96x125,prec=f64",
          "nufft:type=1,n=64x64x64,m=500000,prec=f32,tol=1e-5", "nufft:type=2,n=500x400,m=300000,prec=f64,tol=1e-10",
          "nufft:type=1,n=100000,m=200000,prec=f64,tol=1e-6"}) {
      const Problem problem = parse_problem(token);
      const std::vector<Plan> plans = plans_of(problem, device);
      EXPECT_GE(plans.size(), 3u) << numbers.name << ": " << token;
      for (const Plan& plan : plans) {
        SCOPED_TRACE(std::string(numbers.name) + ": " + to_text(plan, problem));
        if (problem.kind == Kind::fft)
          expect_within(*gpu_fft_program(problem, plan, device), device);
        else
          expect_within(nufft_program(plan, problem, device), device);
      }
    }
  }
}

// Of the same device with twice the clock and bandwidth large problems take half of the time.
TEST(InventedDevices, EstimatesFollowTheNumbers) {
  for (const Numbers& numbers : kInvented) {
    const DeviceTraits device = invented(numbers);
    DeviceTraits twice = device;
    twice.clock_hz *= 2, twice.memory_bandwidth *= 2;
    for (const char* token :
         {"fft:type=c2c,n=512x512x512,prec=f32", "nufft:type=1,n=128x128x128,m=20000000,prec=f32,tol=1e-5",
          "nufft:type=2,n=1000x1000,m=10000000,prec=f64,tol=1e-9"}) {
      const Problem problem = parse_problem(token);
      const Plan plan = default_plan(problem, device);
      const double once = estimate(plan, problem, device).execute, faster = estimate(plan, problem, twice).execute;
      SCOPED_TRACE(std::string(numbers.name) + ": " + to_text(plan, problem));
      EXPECT_NEAR(once / faster, 2, 0.3);
      const double floor = floor_seconds(plan, problem, device);  // 0: not known
      EXPECT_NEAR(2 * floor_seconds(plan, problem, twice), floor, 0.05 * floor);
    }
  }
}

// A batch is cut so that what a chunk needs stays in the cache; subproblems are so short that they fill the device.
TEST(InventedDevices, ChunksFollowTheCacheAndSubproblemsTheMultiprocessors) {
  DeviceTraits device = invented(kInvented[3]);
  const auto chunk = [&](std::int64_t l2) {
    device.l2_bytes = l2;
    return default_plan(parse_problem("nufft:type=1,n=540x540,m=170000,prec=f32,tol=1e-6,batch=30"), device).chunk;
  };
  EXPECT_LE(chunk(2 * MiB), 1);
  EXPECT_LT(chunk(2 * MiB), chunk(60 * MiB));
  EXPECT_LT(chunk(60 * MiB), chunk(400 * MiB));
  const auto cap = [&](int multiprocessors) {
    device.multiprocessors = multiprocessors;
    const Problem problem = parse_problem("nufft:type=1,n=256x256,m=2500000,prec=f32,tol=1e-5");
    return default_plan(problem, device).gpu().points.spread_with.cap;
  };
  EXPECT_GT(cap(4), cap(900));
}

TEST(NufftThresholds, AreThoseOfAnH200ForItsLikesAndInProportionForOthers) {
  using nufft::cached, nufft::filling;
  for (const char* name : {"h100", "h200"}) {
    const DeviceTraits device = *known_device(name);
    EXPECT_EQ(filling(1e5, device.multiprocessors), 1e5) << name;
    EXPECT_EQ(cached(48e6, device.l2_bytes), 48e6) << name;
  }
  EXPECT_DOUBLE_EQ(filling(1e5, 66), 5e4);
  EXPECT_DOUBLE_EQ(filling(1e5, 264), 2e5);
  EXPECT_DOUBLE_EQ(cached(50e6, 5 * MiB), 5e6);
  EXPECT_DOUBLE_EQ(cached(60e6, 120 * MiB), 120e6);
  EXPECT_EQ(filling(1e5, 0), 1e5) << "unknown";
  EXPECT_EQ(cached(48e6, 0), 48e6) << "unknown";
}

}  // namespace
}  // namespace fourtune::generator
