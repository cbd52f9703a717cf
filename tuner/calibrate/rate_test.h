// One rate of a device, and the work that shows it.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "base/calibration.h"
#include "tuner/measure/benchmark.h"

namespace fourtune::tuner {

struct RateTest {
  Workload work;
  // What one execute does: operations, bytes or additions. Of a rate that is a time: how many of them an execute takes.
  double amount = 1;
  // Does the work once and compares its results, so that nothing of it can have been left out. Throws Error{internal}.
  std::function<void()> check;
};
// Arrays live as long as the test, so one is made when its turn comes.
struct RateTestMaker {
  double DeviceRates::*rate;
  std::function<RateTest()> make;
};

struct MeasuredRate {
  double value = 0, spread = 0;  // as in Calibration
};
// Throws Error{internal} that names what was computed wrong.
void expect_right(bool right, const char* what);

// Checks, then measures: the median over samples that no other work of the machine disturbed. Nothing where fewer than
// two were not disturbed. Adds to `busy`.
std::optional<MeasuredRate> measure_rate(const RateTest& test, bool is_time, double seconds, const Clock& clock,
                                         const Probe& probe, BusyCount& busy);

}  // namespace fourtune::tuner
