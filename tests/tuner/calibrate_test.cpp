// Rates of made clocks and of this processor's loops.
#include "tuner/calibrate/calibrate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <regex>
#include <string>
#include <vector>

#include "runtime/backend_table.h"
#include "tests/runtime/forced_targets.h"
#include "tuner/calibrate/processor_loops.h"
#include "tuner/calibrate/processor_tests.h"

namespace fourtune::tuner {
namespace {

constexpr std::int64_t kMs = 1'000'000;

// Every execute takes `ns`, or ten times as long and disturbed where `busy` says so.
struct Machine {
  std::int64_t now = 0, cpu = 0, switches = 0;
  int executes = 0;
  std::function<bool(int)> busy = [](int) { return false; };
  Clock clock = [this] { return now; };
  Probe probe = [this] { return Usage{now, cpu, switches, switches}; };

  Workload work(std::int64_t ns) {
    Workload out;
    out.run = [this, ns](int count) {
      for (int i = 0; i < count; ++i, ++executes) {
        const bool disturbed = busy(executes);
        cpu += ns;
        now += disturbed ? 10 * ns : ns;
        switches += disturbed;
      }
    };
    return out;
  }
  RateTestMaker rate(double DeviceRates::*field, double amount, std::int64_t ns, std::function<void()> check = {}) {
    return {field, [=, this] { return RateTest{work(ns), amount, check}; }};
  }
};

CalibrateResult measured(Machine& machine, const std::vector<RateTestMaker>& tests, CalibrateOptions options = {}) {
  return measure_rates(tests, options, machine.clock, machine.probe);
}

TEST(Calibrate, EachRateIsWhatTheClockSays) {
  Machine machine;
  const CalibrateResult found = measured(
      machine, {machine.rate(&DeviceRates::flops32, 6e6, 2 * kMs), machine.rate(&DeviceRates::copy_far, 5e5, kMs),
                machine.rate(&DeviceRates::launch, 60, 3 * kMs)});
  const DeviceRates& rates = found.calibration.traits.rates;
  EXPECT_DOUBLE_EQ(rates.flops32, 3e9);
  EXPECT_DOUBLE_EQ(rates.copy_far, 5e8);
  EXPECT_DOUBLE_EQ(rates.launch, 5e-5) << "a time, of one of sixty";
  EXPECT_EQ(rates.flops64, 0);
  EXPECT_EQ(found.calibration.spread.flops32, 0);
  EXPECT_TRUE(found.missing.empty());
}

TEST(Calibrate, DisturbedSamplesAreLeftOut) {
  Machine machine;
  machine.busy = [](int i) { return i % 3 == 0; };
  const CalibrateResult found = measured(machine, {machine.rate(&DeviceRates::load, 1e6, kMs)});
  EXPECT_DOUBLE_EQ(found.calibration.traits.rates.load, 1e9);
  EXPECT_GT(found.busy.disturbed, 5);
}

TEST(Calibrate, ARateThatWasAlwaysDisturbedIsMissingAndTheOthersStay) {
  Machine machine;
  int first = -1;
  machine.busy = [&](int i) { return first < 0 ? true : i < first; };
  const auto calm = [&] { first = machine.executes; };
  CalibrateOptions options;
  options.seconds = 4;
  const CalibrateResult found =
      measured(machine, {machine.rate(&DeviceRates::load, 1e6, kMs), machine.rate(&DeviceRates::store, 1e6, kMs, calm)},
               options);
  EXPECT_EQ(found.calibration.traits.rates.load, 0);
  EXPECT_DOUBLE_EQ(found.calibration.traits.rates.store, 1e9);
  EXPECT_EQ(found.missing, std::vector<std::string>{"load"});
}

TEST(Calibrate, TheSpreadIsHalfOfTheMediansInterval) {
  Machine machine;
  int executes = 0;
  const auto uneven = [&] {
    RateTest test;
    test.amount = 1e6;
    test.work.run = [&](int count) {
      for (int i = 0; i < count; ++i) machine.now += executes++ % 2 == 0 ? 9 * kMs / 10 : 11 * kMs / 10;
    };
    return test;
  };
  const CalibrateResult found = measured(machine, {{&DeviceRates::load, uneven}});
  EXPECT_NEAR(found.calibration.spread.load, 0.1, 0.012);
  EXPECT_NEAR(found.calibration.traits.rates.load, 1e9, 1.2e8);
}

TEST(Calibrate, TakesNoLongerThanItMay) {
  Machine machine;
  int sample = 0;
  const auto noisy = [&] {
    RateTest test;
    test.work.run = [&](int count) { machine.now += count * kMs * (1 + sample++ % 7); };
    return test;
  };
  CalibrateOptions options;
  options.seconds = 2;
  measured(machine, {{&DeviceRates::load, noisy}, {&DeviceRates::store, noisy}}, options);
  EXPECT_LT(machine.now, 3000 * kMs);
}

TEST(Calibrate, AWrongResultIsNotTimed) {
  Machine machine;
  const auto wrong = [] { throw Error(Status::internal, "this device computes wrong sums"); };
  EXPECT_THROW(measured(machine, {machine.rate(&DeviceRates::load, 1, kMs, wrong)}), Error);
  EXPECT_EQ(machine.executes, 0);
}

TEST(Calibrate, StopsBeforeTheNextSample) {
  Machine machine;
  CalibrateOptions options;
  std::vector<std::string> begun;
  options.report = [&](std::string_view rate, std::size_t, std::size_t) { begun.emplace_back(rate); };
  options.stop = [&] { return machine.executes >= 10; };
  try {
    measured(machine, {machine.rate(&DeviceRates::load, 1, kMs), machine.rate(&DeviceRates::store, 1, kMs)}, options);
    ADD_FAILURE() << "it went on";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::interrupted);
  }
  EXPECT_EQ(begun, std::vector<std::string>{"load"});
  EXPECT_EQ(machine.executes, 10);
}

TEST(Calibrate, DatesAreThoseOfFiles) {
  EXPECT_TRUE(std::regex_match(calibration_date(), std::regex("20[0-9]{2}-[01][0-9]-[0-3][0-9]")));
}

// Every instruction set that this processor has.
TEST(ProcessorLoops, DoWhatTheySayOnEveryInstructionSet) {
  int sets = 0;
  const std::int64_t supported = hwy::SupportedTargets();
  for (std::int64_t rest = supported; rest != 0; rest &= rest - 1, ++sets) {
    // A better instruction set has a lower bit: this one is the best that is left.
    const runtime::cpu::ForcedTargets forced(rest);
    const ProcessorLoops loops = processor_loops();
    EXPECT_GE(loops.lanes32, loops.lanes64) << "equal where there are no vectors";
    EXPECT_EQ(loops.multiply_add32(100, 1), multiply_add_sum(100) * loops.lanes32);
    EXPECT_EQ(loops.multiply_add64(7, 1), multiply_add_sum(7) * loops.lanes64);
    // Number c becomes 2 c + 2, 4 c + 6, 8 c + 14.
    EXPECT_EQ(loops.multiply_add64(3, 2), (8 * 66 + 14 * multiply_add_chains) * loops.lanes64);
    constexpr std::int64_t words = 2 * loop_words;
    alignas(64) std::uint64_t from[words], to[words];
    std::uint64_t sum = 0;
    for (std::int64_t i = 0; i < words; ++i) from[i] = static_cast<std::uint64_t>(i * i + 1), sum += from[i];
    EXPECT_EQ(loops.load(from, words, 3), 3 * sum);
    loops.store(to, words, 5);
    for (const std::uint64_t word : to) EXPECT_EQ(word, 4u);
    loops.copy(from, to, words, 0xff);
    for (std::int64_t i = 0; i < words; ++i) EXPECT_EQ(to[i], from[i] ^ 0xff);
  }
  EXPECT_GE(sets, 1);
}

TEST(ProcessorLoops, WaitingAdditionsAreAllMade) { EXPECT_EQ(waiting_additions(4096), 4096u); }

TEST(ProcessorTests, EveryCheckPassesHere) {
  DeviceTraits traits = runtime::find_backend("cpu").traits();
  traits.memory_bytes = 64 << 20;  // small arrays "in memory"
  for (const RateTestMaker& maker : processor_tests(traits)) {
    const RateTest test = maker.make();
    EXPECT_NO_THROW(test.check());
    EXPECT_GT(test.amount, 0);
  }
}

TEST(ProcessorTests, OneCoreHasNoRatesOfMany) {
  DeviceTraits traits = runtime::find_backend("cpu").traits();
  traits.cores = 1;
  for (const RateTestMaker& maker : processor_tests(traits)) {
    EXPECT_NE(maker.rate, &DeviceRates::copy_all);
    EXPECT_NE(maker.rate, &DeviceRates::launch);
  }
}

}  // namespace
}  // namespace fourtune::tuner
