// What the rates of a calibrated device change in the cost models, and in which direction.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/calibration.h"
#include "base/known_devices.h"
#include "fourtune/problem.h"
#include "generator/candidates.h"
#include "generator/planner/cpu/fft_times.h"
#include "generator/planner/cpu/slowness.h"
#include "generator/planner/gpu_fft/fft_costs.h"
#include "generator/planner/reference_rates.h"

namespace fourtune::generator {
namespace {

DeviceTraits processor(const DeviceRates& rates, int cores = 1) {
  DeviceTraits traits;
  traits.backend = "cpu", traits.isa = "avx512", traits.cores = cores;
  traits.l1_bytes = 48 << 10, traits.l2_bytes = 2 << 20;
  traits.rates = rates;
  return traits;
}
// The reference with one rate times a factor.
DeviceRates reference_but(double DeviceRates::*rate, double factor) {
  DeviceRates rates = reference_processor;
  rates.*rate *= factor;
  return rates;
}
std::vector<double> factors(const Slowness& slow) {
  return {slow.arithmetic, slow.near, slow.second, slow.far, slow.scalar, slow.meeting};
}
const std::vector<double> kOnes(6, 1.0);

TEST(Slowness, IsOneWithoutACalibrationAndOnTheReference) {
  for (const Precision precision : {Precision::f32, Precision::f64})
    for (const int threads : {1, 2, 16}) {
      EXPECT_EQ(factors(slowness(processor({}, 16), precision, threads)), kOnes);
      if (threads > reference_cores) continue;
      EXPECT_EQ(factors(slowness(processor(reference_processor, 2), precision, threads)), kOnes) << threads;
    }
}

TEST(Slowness, EachRateHasItsOwnPrices) {
  struct Case {
    double DeviceRates::*rate;
    std::size_t factor;
  };
  const Case cases[] = {{&DeviceRates::flops32, 0},
                        {&DeviceRates::load, 1},
                        {&DeviceRates::copy_near, 2},
                        {&DeviceRates::copy_far, 3},
                        {&DeviceRates::clock, 4}};
  for (const Case& one : cases) {
    std::vector<double> expected = kOnes;
    expected[one.factor] = 0.5;
    EXPECT_EQ(factors(slowness(processor(reference_but(one.rate, 2)), Precision::f32, 1)), expected) << one.factor;
  }
  const Slowness later = slowness(processor(reference_but(&DeviceRates::launch, 2), 2), Precision::f32, 2);
  EXPECT_EQ(later.meeting, 2) << "a time";
  EXPECT_EQ(slowness(processor(reference_but(&DeviceRates::flops32, 2)), Precision::f64, 1).arithmetic, 1);
}

TEST(Slowness, ThreadsShareTheMemory) {
  DeviceRates rates = reference_processor;
  rates.copy_all = rates.copy_far;  // one core alone takes all that there is
  EXPECT_EQ(slowness(processor(rates, 2), Precision::f32, 1).far, 1);
  EXPECT_GT(slowness(processor(rates, 2), Precision::f32, 2).far, 1);
}

TEST(Slowness, StaysWithinBounds) {
  EXPECT_EQ(slowness(processor(reference_but(&DeviceRates::load, 1e9)), Precision::f32, 1).near, 0.25);
  EXPECT_EQ(slowness(processor(reference_but(&DeviceRates::load, 1e-9)), Precision::f32, 1).near, 4);
}

TEST(CalibratedModels, NarrowVectorsAreForTheLibrary) {
  const Problem problem = parse_problem("fft:type=c2c,n=54x54x54,prec=f64");
  DeviceRates narrow = reference_processor;
  narrow.flops32 /= 4, narrow.flops64 /= 4, narrow.load /= 4;
  const FftTimes wide_times = fft_times(problem, 1, processor(reference_processor));
  const FftTimes narrow_times = fft_times(problem, 1, processor(narrow));
  EXPECT_EQ(narrow_times.library, wide_times.library);
  EXPECT_GT(narrow_times.rows, 2 * wide_times.rows);
  EXPECT_LT(wide_times.rows, wide_times.library);
  EXPECT_GT(narrow_times.rows, narrow_times.library);
}

// Grids beyond the caches move through memory, so that the finer ones of larger oversampling pay where memory is fast.
TEST(CalibratedModels, FastMemoryTakesLargerGrids) {
  const auto cells = [](const Problem& problem, double factor) {
    const Plan plan = default_plan(problem, processor(reference_but(&DeviceRates::copy_far, factor)));
    return plan.window.fine[0] * plan.window.fine[1] * plan.window.fine[2];
  };
  int larger = 0;
  for (const char* size : {"96x96x96", "128x128x128", "180x180x180", "1024x1024"})
    for (const char* points : {"300000", "1000000", "3000000", "10000000"})
      for (const char* accuracy : {"prec=f32,tol=1e-3", "prec=f32,tol=1e-5", "prec=f64,tol=1e-9"})
        for (const char* type : {"1", "2"}) {
          const Problem problem =
              parse_problem(std::string("nufft:type=") + type + ",n=" + size + ",m=" + points + "," + accuracy);
          const std::int64_t slow = cells(problem, 1), fast = cells(problem, 2);
          EXPECT_GE(fast, slow) << to_token(problem);
          larger += fast > slow;
        }
  EXPECT_GE(larger, 3);
}

TEST(CalibratedModels, OfGpusTakeSharesOfWhatTraitsPromise) {
  DeviceTraits device = *known_device("a100");
  const fft::FftCosts plain, of_reference = fft::fft_costs(*known_device("h200"));
  EXPECT_GT(known_device("h200")->rates.copy_far, 0);
  for (const fft::CostField& field : fft::cost_fields)
    EXPECT_EQ(of_reference.*field.value, plain.*field.value) << field.name;
  const fft::FftCosts without = fft::fft_costs(device);
  for (const fft::CostField& field : fft::cost_fields)
    EXPECT_EQ(without.*field.value, plain.*field.value) << field.name;
  device.rates.copy_far = reference_gpu.copy_far / reference_gpu_bandwidth * device.memory_bandwidth / 2;
  const fft::FftCosts halved = fft::fft_costs(device);
  EXPECT_DOUBLE_EQ(halved.copy, plain.copy / 2);
  EXPECT_EQ(halved.arithmetic, plain.arithmetic);
  const Problem problem = parse_problem("fft:type=c2c,n=256x256x256,prec=f32");
  const Plan plan = default_plan(problem, *known_device("a100"));
  EXPECT_GT(estimate(plan, problem, device).execute, 1.3 * estimate(plan, problem, *known_device("a100")).execute);
}

TEST(CalibratedModels, OfNonuniformTransformsOnGpusCountWithTheMemory) {
  DeviceTraits device = *known_device("a100");
  const Problem problem = parse_problem("nufft:type=1,n=256x256x256,m=1000000,prec=f32,tol=1e-5");
  const Plan plan = default_plan(problem, device);
  const double before = estimate(plan, problem, device).execute;
  device.rates.copy_far = reference_gpu.copy_far / reference_gpu_bandwidth * device.memory_bandwidth / 2;
  EXPECT_GT(estimate(plan, problem, device).execute, 1.2 * before);
}

}  // namespace
}  // namespace fourtune::generator
