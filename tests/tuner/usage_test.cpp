// Which samples show the machine's other load, and what becomes of them.
#include "tuner/measure/usage.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tuner/measure/benchmark.h"
#include "tuner/measure/rounds.h"

namespace fourtune::tuner {
namespace {

constexpr std::int64_t kMs = 1'000'000;

TEST(Usage, ASampleIsDisturbedWhenAnotherProgramHadItsProcessor) {
  EXPECT_FALSE((Usage{10 * kMs, 10 * kMs, 0, 0}.disturbed()));
  EXPECT_TRUE((Usage{10 * kMs, 6 * kMs, 1, 1}.disturbed())) << "the thread waited for its processor";
  EXPECT_FALSE((Usage{10 * kMs, 10 * kMs - 5000, 1, 1}.disturbed())) << "a kernel thread ran for 5 us";
  EXPECT_FALSE((Usage{10 * kMs, 2 * kMs, 0, 0}.disturbed())) << "it slept because it chose to";
  EXPECT_TRUE((Usage{10 * kMs, 10 * kMs, 0, 2}.disturbed())) << "others of its team waited, while it span";
  EXPECT_FALSE((Usage{1000 * kMs, 1000 * kMs, 0, 3}.disturbed())) << "three slices of a second are nothing";
}

// The guesses say that the first four are disturbed: with long samples that is so on quiet machines as well.
TEST(Usage, OfALongSampleItCountsWhatWasLost) {
  const auto with = [](Usage usage, const std::vector<std::int64_t>& waited) {
    for (const std::int64_t ns : waited) usage.waits.push_back({1 + static_cast<int>(usage.waits.size()), ns});
    return usage.disturbed();
  };
  EXPECT_FALSE(with({27 * kMs, 24 * kMs, 1, 1}, {5000, 0}))
      << "it waited for its team, and a kernel thread ran for 5 us";
  EXPECT_FALSE(with({27 * kMs, 27 * kMs, 0, 4}, {0, 20'000})) << "kernel threads ran on the other's processor";
  EXPECT_TRUE(with({27 * kMs, 24 * kMs, 1, 1}, {3 * kMs, 0})) << "another program had the processor for 3 ms";
  EXPECT_TRUE(with({27 * kMs, 27 * kMs, 0, 4}, {0, 3 * kMs})) << "and here the other thread's";
  EXPECT_FALSE(with({27 * kMs, 20 * kMs, 0, 0}, {0, 3 * kMs})) << "nobody took it: it has more threads than processors";
}

TEST(Usage, WaitsAreThoseOfThreadsThatWereThereBefore) {
  const Usage before{0, 0, 0, 0, {{3, 100}, {5, 7}, {8, 1}}}, after{0, 0, 0, 0, {{3, 150}, {7, 20}, {8, 1}}};
  const Usage used = after - before;
  ASSERT_EQ(used.waits.size(), 3u);
  EXPECT_EQ(used.waits[0].ns, 50);
  EXPECT_EQ(used.waits[1].ns, 20) << "a thread that began in between";
  EXPECT_EQ(used.waits[2].ns, 0);
  EXPECT_TRUE((after - Usage{}).waits.empty()) << "not known of the time before";
}

TEST(Usage, TheProbeAsksForWaitsOfLongSamplesOnly) {
  const Probe probe = usage_probe();
  const auto spin = [](std::int64_t ns) {
    const Clock clock = wall_clock();
    for (const std::int64_t end = clock() + ns; clock() < end;) continue;
  };
  EXPECT_TRUE(probe().waits.empty());
  spin(3 * kMs);
  const bool told = std::ifstream("/proc/thread-self/schedstat").good();
  EXPECT_EQ(probe().waits.empty(), !told);
  EXPECT_EQ(probe().waits.empty(), !told) << "before the next sample, which will be long as well";
  spin(3 * kMs);
  EXPECT_EQ(probe().waits.empty(), !told);
}

TEST(Usage, TheShareIsSaidInOneLine) {
  EXPECT_EQ((BusyCount{100, 41}.text()), "this machine was busy in 41 % of samples");
  EXPECT_EQ((BusyCount{1000, 1}.text()), "this machine was busy in 1 % of samples");
  EXPECT_TRUE((BusyCount{10, 1}.matters()));
  EXPECT_FALSE((BusyCount{11, 1}.matters()));
  EXPECT_FALSE((BusyCount{}.matters()));
}

// A made clock and probe: execute number i takes times[i] ns, or ten times as long and disturbed where `busy` says so.
struct MadeMachine {
  std::int64_t now = 0, cpu = 0, switches = 0;
  int executes = 0;
  std::function<bool(int)> busy;
  Workload work{[this](int n) {
    for (int i = 0; i < n; ++i, ++executes) {
      cpu += kMs;
      now += busy(executes) ? 10 * kMs : kMs;
      switches += busy(executes);
    }
  }};
  Clock clock = [this] { return now; };
  Probe probe = [this] { return Usage{now, cpu, switches, switches}; };
};

TEST(BusyBenchmark, LeavesDisturbedSamplesOutAndTakesThemAgain) {
  MadeMachine machine;
  machine.busy = [](int i) { return i % 3 == 0; };
  BenchmarkOptions options;
  options.min_samples = 12;
  const BenchmarkResult result = benchmark(machine.work, options, 0, machine.clock, machine.probe);
  EXPECT_EQ(result.samples_ns, std::vector<std::int64_t>(12, kMs));
  EXPECT_GE(result.busy.disturbed, 5);
  EXPECT_EQ(result.busy.samples, 12 + result.busy.disturbed);
  EXPECT_FALSE(result.unsure);
}

TEST(BusyBenchmark, RacesNoPlanOutBySuchSamples) {
  MadeMachine machine;
  machine.busy = [](int i) { return i != 9; };
  BenchmarkOptions options;
  options.max_seconds = 0.2;
  const BenchmarkResult result = benchmark(machine.work, options, 2e-3, machine.clock, machine.probe);
  EXPECT_FALSE(result.raced_out) << "it takes half of the incumbent's time, when it may";
  EXPECT_TRUE(result.unsure);
  EXPECT_EQ(static_cast<std::int64_t>(result.samples_ns.size()), result.busy.samples);
}

TEST(BusyRounds, KeepsRoundsWithoutADisturbedSample) {
  MadeMachine machine;
  machine.busy = [](int i) { return i % 5 == 0; };
  FinalsRequest request;
  request.seconds = 1e-3;
  request.min_rounds = 10;
  request.max_rounds = 10;
  FinalsResult result;
  measure_rounds(
      request, request.benchmark, {machine.work, machine.work}, {1, 1}, machine.probe, [] { return false; }, result);
  ASSERT_EQ(result.samples_ns.size(), 2u);
  EXPECT_EQ(result.samples_ns[0].size(), 10u) << "what was disturbed is taken again";
  EXPECT_EQ(result.samples_ns[1].size(), 10u);
  EXPECT_GT(result.busy.disturbed, 0);
  EXPECT_EQ(result.busy.samples, 20 + result.busy.disturbed);
}

// Seven finalists whose samples are disturbed one in three times would have one round in seventeen without a repeat.
TEST(BusyRounds, ManyPlansAreJudgedWhereManySamplesAreDisturbed) {
  MadeMachine machine;
  machine.busy = [](int i) { return i % 3 == 0; };
  FinalsRequest request;
  request.seconds = 1e-3;
  FinalsResult result;
  measure_rounds(
      request, request.benchmark, std::vector<Workload>(7, machine.work), std::vector<int>(7, 1), machine.probe,
      [] { return false; }, result);
  for (const auto& samples : result.samples_ns) EXPECT_GE(samples.size(), 6u) << "what a verdict needs";
}

TEST(BusyRounds, EndOnAMachineThatIsAlwaysBusy) {
  MadeMachine machine;
  machine.busy = [](int) { return true; };
  FinalsRequest request;
  request.seconds = 0;
  FinalsResult result;
  measure_rounds(
      request, request.benchmark, {machine.work, machine.work}, {1, 1}, machine.probe, [] { return false; }, result);
  EXPECT_TRUE(result.samples_ns[0].empty());
  EXPECT_EQ(result.busy, (BusyCount{3 * request.min_rounds, 3 * request.min_rounds})) << "three tries of each round";
}

}  // namespace
}  // namespace fourtune::tuner
