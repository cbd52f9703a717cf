// The energy of an execute by a counter that moves in steps, and by readings of power, on a clock of the test.
#include "tuner/measure/energy.h"

#include <gtest/gtest.h>

#include <cmath>

namespace fourtune::tuner {
namespace {

// A device of constant power whose counter shows what it used up to the last multiple of `step` seconds.
struct FakeDevice : runtime::DeviceSensors {
  double watts = 400, idle_watts = 80, step = 0.1, execute = 20e-6;
  bool counts = true, tells_power = true, stands_still = false;
  std::int64_t now_ns = 123'456'789;
  int refreshes = 0, executes = 0;

  double used() const { return watts * std::floor(static_cast<double>(now_ns) * 1e-9 / step) * step; }
  std::optional<double> joules() override {
    if (!counts) return std::nullopt;
    return stands_still ? 7.0 : used();
  }
  runtime::DeviceState read() override {
    runtime::DeviceState state;
    if (tells_power) state.watts = watts;
    return state;
  }
  Workload workload() {
    Workload work;
    work.timed = [this](int count) {
      executes += count;
      now_ns += static_cast<std::int64_t>(std::llround(count * execute * 1e9));
      return count * execute;
    };
    return work;
  }
  std::optional<double> measure() {
    return joules_of_execute(workload(), execute, *this, {}, [this] { return now_ns; });
  }
};

TEST(Energy, ACounterOfStepsGivesTheEnergyOfAnExecuteWithinABatchPerStep) {
  for (const double step : {0.02, 0.1, 0.25})
    for (const double execute : {3e-6, 20e-6, 0.7e-3, 5e-3}) {
      FakeDevice device;
      device.step = step, device.execute = execute;
      const auto joules = device.measure();
      ASSERT_TRUE(joules.has_value()) << step << ' ' << execute;
      const double truth = device.watts * execute, batch = std::max(1e-3, execute);
      EXPECT_NEAR(*joules, truth, truth * 2 * batch / 0.3) << step << ' ' << execute;
    }
}

TEST(Energy, WorkBeforeTheFirstStepDoesNotCount) {
  FakeDevice device;
  device.step = 0.2;
  device.now_ns = 190'000'000;  // a step follows soon, and shows energy from before
  const double truth = device.watts * device.execute;
  EXPECT_NEAR(device.measure().value(), truth, 0.02 * truth);
}

TEST(Energy, WithoutACounterPowerIsAveragedAfterItHasSettled) {
  FakeDevice device;
  device.counts = false;
  const std::int64_t begin = device.now_ns;
  const double truth = device.watts * device.execute;
  EXPECT_NEAR(device.measure().value(), truth, 1e-6 * truth);
  EXPECT_GE(device.now_ns - begin, 1'800'000'000);
}

TEST(Energy, NothingIsToldWhereTheDeviceTellsNothing) {
  FakeDevice silent;
  silent.counts = silent.tells_power = false;
  EXPECT_EQ(silent.measure(), std::nullopt);
  FakeDevice still;
  still.stands_still = true;
  EXPECT_EQ(still.measure(), std::nullopt) << "a counter that stands still gives no energy, not none";
}

TEST(Energy, TransformsInPlaceKeepToTheirPasses) {
  FakeDevice device;
  Workload work = device.workload();
  work.most_loops = 4;
  work.refresh = [&] { ++device.refreshes; };
  const auto joules = joules_of_execute(work, device.execute, device, {}, [&] { return device.now_ns; });
  EXPECT_TRUE(joules.has_value());
  EXPECT_EQ(device.executes, 4 * device.refreshes);
}

}  // namespace
}  // namespace fourtune::tuner
