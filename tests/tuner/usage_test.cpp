// Which samples show the machine's other load, and what becomes of them.
#include "tuner/measure/usage.h"

#include <gtest/gtest.h>

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
  EXPECT_EQ(result.samples_ns[0].size(), result.samples_ns[1].size());
  EXPECT_LT(result.samples_ns[0].size(), static_cast<std::size_t>(result.busy.samples / 2));
  EXPECT_GT(result.busy.disturbed, 0);
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
  EXPECT_EQ(result.busy, (BusyCount{2 * request.min_rounds, 2 * request.min_rounds}));
}

}  // namespace
}  // namespace fourtune::tuner
