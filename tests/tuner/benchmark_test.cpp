// Sampling, racing and intervals, on clocks with known behaviour.
#include "tuner/measure/benchmark.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "base/random.h"

namespace fourtune::tuner {
namespace {

// A workload with a private clock, whose executes take the time that `nanoseconds` says.
struct FakeTime {
  std::int64_t now = 0;
  int executes = 0, refreshes = 0;
  std::function<std::int64_t(int)> nanoseconds;  // duration of the i-th execute

  Workload workload() {
    return {[this](int count) {
              for (int i = 0; i < count; ++i) now += nanoseconds(executes++);
            },
            [this] { ++refreshes; }};
  }
  Clock clock() {
    return [this] { return now; };
  }
};

TEST(Benchmark, ShortExecutesAreLoopedInsideASample) {
  FakeTime time;
  time.nanoseconds = [](int) { return 100; };
  const BenchmarkResult result = benchmark(time.workload(), {}, 0, time.clock());
  EXPECT_GE(result.loops, 200);
  for (const auto ns : result.samples_ns) EXPECT_EQ(ns, 100);
}

TEST(Benchmark, StopsEarlyWhenTheIntervalIsTight) {
  FakeTime time;
  time.nanoseconds = [](int) { return 1'000'000; };
  EXPECT_EQ(static_cast<int>(benchmark(time.workload(), {}, 0, time.clock()).samples_ns.size()),
            BenchmarkOptions{}.min_samples);
}

TEST(Benchmark, NoisyExecutesGetMoreSamplesWithinTheBudget) {
  FakeTime time;
  Random random(1);
  time.nanoseconds = [&](int) { return 1'000'000 + static_cast<std::int64_t>(random.below(1'000'000)); };
  BenchmarkOptions options;
  options.max_seconds = 0.1;
  const auto count = benchmark(time.workload(), options, 0, time.clock()).samples_ns.size();
  EXPECT_GT(count, 30u);
  EXPECT_LT(count, 100u);
}

TEST(Benchmark, SlowExecutesGetAtLeastTwoSamples) {
  FakeTime time;
  time.nanoseconds = [](int) { return std::int64_t{5'000'000'000}; };
  EXPECT_EQ(benchmark(time.workload(), {}, 0, time.clock()).samples_ns.size(), 2u);
}

TEST(Benchmark, TheFirstExecuteIsNotASample) {
  FakeTime time;
  time.nanoseconds = [](int i) { return i == 0 ? 900'000'000 : 1'000'000; };
  for (const auto ns : benchmark(time.workload(), {}, 0, time.clock()).samples_ns) EXPECT_EQ(ns, 1'000'000);
}

TEST(Benchmark, LosersAreRacedOutAndEqualsAreNot) {
  FakeTime time;
  time.nanoseconds = [](int) { return 1'300'000; };
  const BenchmarkResult loser = benchmark(time.workload(), {}, 1e-3, time.clock());
  EXPECT_TRUE(loser.raced_out);
  EXPECT_EQ(loser.samples_ns.size(), 2u);
  time.nanoseconds = [](int) { return 1'040'000; };
  EXPECT_FALSE(benchmark(time.workload(), {}, 1e-3, time.clock()).raced_out);
  EXPECT_FALSE(benchmark(time.workload(), {}, 0, time.clock()).raced_out);
}

TEST(Benchmark, OneSlowSampleDoesNotRaceOutAFastPlan) {
  FakeTime time;
  time.nanoseconds = [](int i) { return i % 4 == 3 ? 5'000'000 : 900'000; };
  EXPECT_FALSE(benchmark(time.workload(), {}, 1e-3, time.clock()).raced_out);
}

TEST(Benchmark, InputsAreRestoredBeforeEverySampleUntimed) {
  FakeTime time;
  time.nanoseconds = [](int) { return 1'000'000; };
  const auto count = benchmark(time.workload(), {}, 0, time.clock()).samples_ns.size();
  EXPECT_GE(time.refreshes, static_cast<int>(count));
}

TEST(Benchmark, ColdModeMeasuresOneExecuteASample) {
  FakeTime time;
  time.nanoseconds = [](int) { return 100; };
  BenchmarkOptions options;
  options.cold = true;
  EXPECT_EQ(benchmark(time.workload(), options, 0, time.clock()).loops, 1);
}

TEST(MedianInterval, OfFewSamplesIsTheirExtremes) {
  const std::int64_t samples[] = {5, 1, 3};
  const MedianInterval interval = median_interval(samples);
  EXPECT_EQ(interval.median, 3);
  EXPECT_EQ(interval.low, 1);
  EXPECT_EQ(interval.high, 5);
  EXPECT_EQ(median_interval({}).median, 0);
}

// The coverage over many draws must be at least the nominal one, but not absurdly more.
TEST(MedianInterval, CoversTheMedian95TimesInAHundred) {
  Random random(7);
  for (const int size : {6, 9, 15, 40, 101}) {
    int covered = 0;
    constexpr int draws = 4000;
    for (int d = 0; d < draws; ++d) {
      std::vector<std::int64_t> samples;
      for (int i = 0; i < size; ++i) samples.push_back(static_cast<std::int64_t>(1e6 * std::exp(random.normal())));
      const MedianInterval interval = median_interval(samples);
      covered += interval.low <= 1e6 && 1e6 <= interval.high;
    }
    EXPECT_GT(covered, 0.94 * draws) << size;
    EXPECT_LT(covered, 0.985 * draws) << size;
  }
}

TEST(PairedRatio, SeesASmallDifferenceThroughCommonNoise) {
  Random random(3);
  std::vector<std::int64_t> a, b;
  for (int round = 0; round < 20; ++round) {  // the machine's speed drifts by 30 %, while the plans differ by 3 %
    const double drift = 1 + 0.3 * random.uniform();
    a.push_back(static_cast<std::int64_t>(1e6 * drift * (1 + 0.003 * random.normal())));
    b.push_back(static_cast<std::int64_t>(1.03e6 * drift * (1 + 0.003 * random.normal())));
  }
  const RatioInterval ratio = paired_ratio(a, b);
  EXPECT_NEAR(ratio.ratio, 1.03, 0.005);
  EXPECT_GT(ratio.low, 1.02);
  EXPECT_LT(ratio.high, 1.04);
  EXPECT_EQ(ratio.rounds, 20);
}

TEST(PairedRatio, EqualPlansAreRarelyCalledDifferent) {
  Random random(4);
  int called = 0;
  for (int trial = 0; trial < 1000; ++trial) {
    std::vector<std::int64_t> a, b;
    for (int round = 0; round < 9; ++round) {
      a.push_back(static_cast<std::int64_t>(1e6 * (1 + 0.1 * random.uniform())));
      b.push_back(static_cast<std::int64_t>(1e6 * (1 + 0.1 * random.uniform())));
    }
    called += paired_ratio(a, b).low > 1;
  }
  EXPECT_LT(called, 40);
}

TEST(PairedRatio, FewRoundsProveNothing) {
  const std::int64_t a[] = {1, 1, 1}, b[] = {2, 2, 2};
  const RatioInterval ratio = paired_ratio(a, b);
  EXPECT_EQ(ratio.ratio, 2);
  EXPECT_EQ(ratio.low, 0);
  EXPECT_EQ(ratio.high, std::numeric_limits<double>::infinity());
  EXPECT_EQ(paired_ratio({}, {}).rounds, 0);
}

TEST(Benchmark, ASampleHasAsManyExecutesAsItsTimeNeeds) {
  BenchmarkOptions options;
  options.min_sample_seconds = 1e-6;
  EXPECT_EQ(loops_for(0, options), 1000) << "as if it took a nanosecond";
  EXPECT_EQ(loops_for(1, options), 1000);
  EXPECT_EQ(loops_for(300, options), 4);
  EXPECT_EQ(loops_for(500, options), 2);
  EXPECT_EQ(loops_for(999, options), 2);
  EXPECT_EQ(loops_for(1000, options), 1);
  EXPECT_EQ(loops_for(5000, options), 1);
  options.min_sample_seconds = 10;
  EXPECT_EQ(loops_for(1, options), 1000000);
  options.cold = true;
  EXPECT_EQ(loops_for(1, options), 1);
}

}  // namespace
}  // namespace fourtune::tuner
