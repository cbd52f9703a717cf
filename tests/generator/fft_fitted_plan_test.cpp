// Plain plans are right for the problem, and the device can run them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "base/known_devices.h"
#include "base/layout.h"
#include "generator/codegen/fft/any_length/any_size.h"
#include "generator/plan/fft/geometry.h"
#include "generator/planner/gpu_fft/fitted_plan.h"

namespace fourtune::generator::fft {
namespace {

EmitOptions cube_options(std::int64_t n, Precision precision, bool in_place = false) {
  EmitOptions o;
  o.n = {n, n, n};
  o.precision = precision;
  o.in_place = in_place;
  return o;
}

TEST(FftFittedPlan, FitEveryDeviceAndEmit) {
  for (const auto& name : known_device_names()) {
    const DeviceTraits device = *known_device(name);
    for (const std::int64_t n : {100, 128, 256, 512, 1024})
      for (const Precision precision : {Precision::f32, Precision::f64})
        for (const bool in_place : {false, true}) {
          const EmitOptions o = cube_options(n, precision, in_place);
          const FftPlan plan = fitted_plan(o, device);
          SCOPED_TRACE(name + " " + to_text(plan));
          EXPECT_TRUE(check(plan, o.n).empty());
          EXPECT_EQ(plan.precision, precision);
          EXPECT_EQ(plan.place, in_place ? Place::in : Place::out);
          EXPECT_EQ(plan.order, DigitOrder::natural);
          const GpuProgram program = emit_program(plan, o);
          for (const auto& kernel : program.kernels) EXPECT_LE(kernel.shared_bytes, device.shared_per_block);
        }
  }
}

// A large batch of lines, on an H100.
EmitOptions line_options(std::int64_t n, Precision precision) {
  EmitOptions o;
  o.n = {n};
  o.batch = 100000;
  o.precision = precision;
  o.device = *known_device("h100");
  return o;
}

// Lines that a thread holds: whole warps, and runs of memory for neighbouring threads.
TEST(FftPlainPlans, ShortLinesInLargeBatchesCoalesceWhatAThreadHolds) {
  for (const std::int64_t n : {2, 3, 5, 8, 16, 17, 31, 32, 61})
    for (const Precision precision : {Precision::f32, Precision::f64}) {
      const EmitOptions o = line_options(n, precision);
      const FftPlan plan = plain_plan(o);
      SCOPED_TRACE(to_text(plan));
      ASSERT_EQ(plan.kernels.size(), 1u);
      EXPECT_TRUE(check(plan, o.n).empty());
      if (n <= (precision == Precision::f32 ? 32 : 16)) {
        EXPECT_TRUE(check_device(plan, o.device).empty());
        EXPECT_EQ(plan.kernels[0].with.coalesce, Coalesce::both);
        EXPECT_EQ(plan.kernels[0].subs.size(), 1u);
        EXPECT_EQ(plan.kernels[0].with.tile[1] % plan.kernels[0].with.threads, 0);
      }
    }
}

// Every thread gathers as many neighbours as the others. The smaller radix is first where threads have whole numbers of
// its DFTs, or the length is even and the larger one twice as large.
TEST(FftPlainPlans, ManyLinesOfTwoRadicesShareValuesEvenly) {
  for (const auto& [n, first] : {std::pair(63, 9), {75, 5}, {78, 6}, {85, 17}, {110, 11}}) {
    EmitOptions o = line_options(n, Precision::f32);
    o.batch = 1 << 17;
    const Kernel kernel = plain_plan(o).kernels.at(0);
    ASSERT_EQ(kernel.subs.size(), 2u) << n;
    EXPECT_EQ(kernel.subs[0].radix, first) << n;
    EXPECT_EQ(kernel.with.coalesce, Coalesce::both) << n;
    EXPECT_EQ(n * kernel.with.tile[1] % kernel.with.threads, 0) << n;
    EXPECT_EQ(n * kernel.with.tile[1] / kernel.with.threads, std::max(first, n / first)) << n;
  }
}

// Three radices that leave a thread one DFT in every round: one kernel up to 24576 values in f32.
TEST(FftPlainPlans, LinesThatFillABlockTakeUpTo768Threads) {
  EmitOptions o = line_options(18750, Precision::f32);
  o.batch = 500;
  const FftPlan plan = plain_plan(o);
  ASSERT_EQ(plan.kernels.size(), 1u);
  EXPECT_EQ(plan.kernels[0].with.threads, 768);
  o.n[0] = 20000;  // 800 DFTs of 25
  EXPECT_GT(plain_plan(o).kernels.size(), 1u);
}

// Rows of half spectra are shorter than the tile's lines: no rounds look for their neighbours, where two radices do.
// Threads that hold lines have such rounds.
TEST(FftPlainPlans, ShortRealLinesTakeOneRadixOrTwoInSmallTiles) {
  for (const auto& [n, type] : {std::pair(49, FftType::r2c), {36, FftType::r2c}, {60, FftType::c2r}}) {
    EmitOptions o = line_options(n, Precision::f32);
    o.type = type;
    const FftPlan plan = plain_plan(o);
    SCOPED_TRACE(to_text(plan));
    ASSERT_EQ(plan.kernels.size(), 1u);
    ASSERT_EQ(plan.kernels[0].subs.size(), 2u);
    // A c2r begins with the larger one, as long as it is no larger than 16.
    if (type == FftType::r2c) {
      EXPECT_LE(plan.kernels[0].subs[0].radix, plan.kernels[0].subs[1].radix);
    } else {
      EXPECT_GE(plan.kernels[0].subs[0].radix, plan.kernels[0].subs[1].radix);
    }
    EXPECT_EQ(plan.kernels[0].with.coalesce, Coalesce::none);
    EXPECT_LE(n * plan.kernels[0].with.tile[1], 640 + 4 * n);
  }
  // Longer ones: tiles of some 800 values; spectra are completed by the smaller radix where the larger is above 16.
  for (const auto& [n, type, first, lines] : {std::tuple(216, FftType::r2c, 18, 4),
                                              {84, FftType::c2r, 12, 8},
                                              {432, FftType::c2r, 18, 4},
                                              {364, FftType::r2c, 26, 4}}) {
    EmitOptions o = line_options(n, Precision::f64);
    o.type = type;
    const Kernel kernel = plain_plan(o).kernels.at(0);
    ASSERT_EQ(kernel.subs.size(), 2u) << n;
    EXPECT_EQ(kernel.subs[0].radix, first) << n;
    EXPECT_EQ(kernel.with.tile[1], lines) << n;
  }
  for (const Precision precision : {Precision::f32, Precision::f64})
    for (const auto& [n, type] :
         {std::pair(10, FftType::r2c), {12, FftType::c2r}, {26, FftType::c2r}, {30, FftType::r2c}}) {
      EmitOptions o = line_options(n, precision);
      o.type = type;
      const Kernel kernel = plain_plan(o).kernels.at(0);
      EXPECT_EQ(kernel.subs.size(), 1u) << n;
      EXPECT_EQ(kernel.with.coalesce, Coalesce::both) << n;
    }
  for (const auto& [n, coalesce] :
       {std::pair(16, Coalesce::both), {17, Coalesce::both}, {9, Coalesce::both}, {70, Coalesce::none}}) {
    EmitOptions o = line_options(n, Precision::f32);
    o.type = FftType::c2r;
    EXPECT_EQ(plain_plan(o).kernels[0].with.coalesce, coalesce) << n;
  }
}

// Many tiles hide the rounds in which neighbouring threads move neighbours; few do not.
TEST(FftPlainPlans, ComplexLinesOfTwoRadicesGatherNeighboursInSmallTilesOfLargeBatches) {
  for (const auto& [n, precision] : {std::pair(72, Precision::f32), {30, Precision::f64}, {128, Precision::f32}}) {
    EmitOptions o = line_options(n, precision);
    o.batch = 1 << 20;
    const KernelParameters many = plain_plan(o).kernels[0].with;
    EXPECT_NE(many.coalesce, Coalesce::none) << n;
    EXPECT_LE(n * many.tile[1], 1280) << n;
    o.batch = 1850;
    EXPECT_EQ(plain_plan(o).kernels[0].with.coalesce, Coalesce::none) << n;
  }
}

// Every thread has one DFT of the larger radix, and as many values to gather as the others.
TEST(FftPlainPlans, ThreadsGatherAsManyNeighboursEach) {
  for (const auto& [n, precision] : {std::pair(66, Precision::f32), {78, Precision::f32}, {20, Precision::f64}}) {
    EmitOptions o = line_options(n, precision);
    o.batch = 1 << 20;
    const FftPlan plan = plain_plan(o);
    SCOPED_TRACE(to_text(plan));
    EXPECT_TRUE(check(plan, o.n).empty());
    const KernelParameters with = plan.kernels.at(0).with;
    EXPECT_EQ(n * with.tile[1] % with.threads, 0);
    EXPECT_LE(n * with.tile[1], 2100);
  }
}

// Few lines of 64 KB have a multiprocessor for each half.
TEST(FftPlainPlans, FewLongLinesInDoubleTakeClusters) {
  EmitOptions o = line_options(4096, Precision::f64);
  for (const auto& [batch, cluster] : {std::pair(100, 2), {2000, 1}}) {
    o.batch = batch;
    const FftPlan plan = plain_plan(o);
    EXPECT_TRUE(check(plan, o.n).empty());
    EXPECT_TRUE(check_device(plan, o.device).empty());
    EXPECT_EQ(plan.kernels.at(0).with.cluster, cluster) << batch;
  }
  o.batch = 100;
  o.device.cluster_blocks = 1;
  EXPECT_EQ(plain_plan(o).kernels.at(0).with.cluster, 1);
}

// The largest divisors near what is wanted would leave runs of 48 and 72 bytes.
TEST(FftPlainPlans, OddLongLinesCarryMoreNeighboursThanWanted) {
  for (const auto& [precision, wanted] : {std::pair(Precision::f32, 27), {Precision::f64, 9}}) {
    EmitOptions o = line_options(531441, precision);
    o.batch = 2;
    const FftPlan plan = plain_plan(o);
    SCOPED_TRACE(to_text(plan));
    EXPECT_TRUE(check(plan, o.n).empty());
    EXPECT_TRUE(check_device(plan, o.device).empty());
    for (const Kernel& kernel : plan.kernels) EXPECT_EQ(kernel.with.tile[0], wanted);
  }
}

// One block of a multiprocessor computes while the other one loads.
TEST(FftPlainPlans, LinesThatFillABlockLeaveRoomForAnotherWhereThreeRadicesDo) {
  for (const std::int64_t n : {8748, 9000, 10206}) {
    const EmitOptions o = line_options(n, Precision::f32);
    const FftPlan plan = plain_plan(o);
    SCOPED_TRACE(to_text(plan));
    ASSERT_EQ(plan.kernels.size(), 1u);
    EXPECT_TRUE(check(plan, o.n).empty());
    EXPECT_EQ(resident_blocks(plan, 0, o.device), 2);
    for (const SubFft& sub : plan.kernels[0].subs)
      EXPECT_LE((n / sub.radix + plan.kernels[0].with.threads - 1) / plan.kernels[0].with.threads * sub.radix, 30);
  }
  for (const std::int64_t n : {8192, 11664, 16384})
    EXPECT_EQ(plain_plan(line_options(n, Precision::f32)).kernels[0].with.registers, 0) << n;
}

// All rounds of a line have about as many DFTs as there are threads: few threads wait for the second DFT of others.
TEST(FftPlainPlans, RoundsKeepTheThreadsOfALineBusy) {
  for (std::int64_t n = 33; n <= 4096; ++n)
    for (const Precision precision : {Precision::f32, Precision::f64}) {
      if (prime_factors(n).back() > 13) continue;
      const EmitOptions o = line_options(n, precision);
      const FftPlan plan = plain_plan(o);
      const auto values = static_cast<double>(geometry(plan, 0).block_elements);
      const double threads = plan.kernels[0].with.threads;
      double slots = 0;
      for (const SubFft& sub : plan.kernels[0].subs)
        slots += std::ceil(values / sub.radix / threads) * threads * sub.radix;
      EXPECT_LE(slots, 1.6 * values * static_cast<double>(plan.kernels[0].subs.size())) << to_text(plan);
    }
}

TEST(FftPlainPlans, SmallTransformsOfSeveralDimensionsTakeOneKernel) {
  const auto kernels = [](Lengths n, std::int64_t batch, bool windowed = false) {
    EmitOptions o;
    o.n = n;
    o.batch = batch;
    o.device = *known_device("h100");
    if (windowed) o.hooks[1].output = Pruning{Pruning::Kind::head, {}, n[1], n[1] / 2, 1};
    const FftPlan plan = plain_plan(o);
    EXPECT_TRUE(check(plan, o.n).empty()) << to_text(plan);
    return plan.kernels.size();
  };
  EXPECT_EQ(kernels({16, 16, 16}, 2048), 1u);
  EXPECT_EQ(kernels({32, 32, 1}, 8192), 1u);
  EXPECT_EQ(kernels({48, 48, 1}, 3600), 1u);
  EXPECT_EQ(kernels({8, 8, 1}, 1), 1u);
  EXPECT_EQ(kernels({64, 64, 1}, 1), 2u);           // one block would leave the device idle
  EXPECT_EQ(kernels({32, 32, 32}, 100), 3u);        // more than a block holds well
  EXPECT_GT(kernels({32, 32, 1}, 8192, true), 1u);  // padding and cutting take a kernel for each dimension
}

TEST(FftPlainPlans, LinesThatFillABlockTakeOneKernelWhereThereAreEnough) {
  const auto kernels = [](std::int64_t n, std::int64_t batch, Precision precision, const char* device) {
    EmitOptions o;
    o.n = {n};
    o.batch = batch;
    o.precision = precision;
    o.device = *known_device(device);
    return plain_plan(o).kernels.size();
  };
  EXPECT_EQ(kernels(16384, 512, Precision::f32, "h100"), 1u);
  EXPECT_EQ(kernels(16384, 2, Precision::f32, "h100"), 2u);
  EXPECT_EQ(kernels(16384, 512, Precision::f64, "h100"), 2u);
  EXPECT_EQ(kernels(16384, 512, Precision::f32, "t4"), 2u);
}

// 14580 = 27 27 20 has 729 DFTs of 20 values, of which 512 threads would hold two.
TEST(FftPlainPlans, LinesThatFillABlockLeaveNoThreadMoreThanItHolds) {
  EmitOptions o;
  o.batch = 512;
  o.device = *known_device("h100");
  for (const std::int64_t n : {9000, 10206, 13500, 14580, 15876, 16384}) {
    o.n = {n};
    const FftPlan plan = plain_plan(o);
    ASSERT_EQ(plan.kernels.size(), 1u) << n;
    EXPECT_LE(geometry(plan, 0).elements_per_thread, 32) << to_text(plan);
    EXPECT_LE(plan.kernels[0].subs.size(), 3u) << to_text(plan);
  }
  o.n = {399};
  EXPECT_EQ(plain_plan(o).kernels[0].subs.size(), 2u) << "21 19, not 19 7 3";
}

TEST(FftPlainPlans, AShortLastDimensionRidesOnTheOneBeforeIt) {
  EmitOptions o;
  o.n = {128, 8192, 4};
  const FftPlan joined = plain_plan(o);
  ASSERT_EQ(joined.kernels.size(), 3u);
  EXPECT_EQ(joined.kernels.back().subs.back().dim, Dim::z);
  EXPECT_TRUE(check(joined, o.n).empty());
  o.hooks[2].output = Pruning{};
  o.hooks[2].output->kept = 2;
  EXPECT_EQ(plain_plan(o).kernels.size(), 4u);
}

// Interleaved transforms: a tile carries as many as 8 (f32) and leaves of its neighbours what a block still holds.
TEST(FftPlainPlans, ATileCarriesTransformsOfTheBatchAsFarAsABlockHoldsThem) {
  const auto carried = [](std::int64_t line, std::int64_t batch, Precision precision) {
    EmitOptions o;
    o.n = {64, line, 1};
    o.batch = batch;
    o.precision = precision;
    FftPlan plan = line_plan(o, 1);
    carry_batch(plan, o, true);
    std::int64_t product = 1;
    for (const SubFft& sub : plan.kernels.front().subs) product *= sub.radix;
    EXPECT_EQ(product, line);
    const auto& tile = plan.kernels.front().with.tile;
    return std::pair(tile[0], tile[2]);
  };
  EXPECT_EQ(carried(64, 100, Precision::f32).second, 8);
  EXPECT_EQ(carried(64, 100, Precision::f64).second, 4);
  EXPECT_EQ(carried(64, 5, Precision::f32).second, 4);
  EXPECT_EQ(carried(512, 100, Precision::f32), (std::pair{4, 8}));
  EXPECT_EQ(carried(1024, 100, Precision::f32), (std::pair{4, 4}));
  EXPECT_EQ(carried(1024, 100, Precision::f64), (std::pair{2, 4}));
  EXPECT_EQ(carried(64, 1, Precision::f32).second, 1);
}

TEST(FftPlainPlans, TilesOfShortLinesHoldManyOfThem) {
  EmitOptions o;
  o.n = {40, 40, 5};
  for (const Kernel& kernel : plain_plan(o).kernels) {
    std::int64_t values = 1;
    for (const SubFft& sub : kernel.subs) values *= sub.radix;
    for (const int carried : kernel.with.tile) values *= carried;
    EXPECT_GE(values, 512) << to_text(kernel);
    EXPECT_LE(values, 8192) << to_text(kernel);
  }
}

TEST(FftFittedPlan, LengthsWithoutCodeletsAreRefused) {
  EmitOptions o = cube_options(67, Precision::f32);
  EXPECT_THROW(fitted_plan(o, *known_device("h200")), Error);
}

}  // namespace
}  // namespace fourtune::generator::fft
