// The energy of one execute, from the device's own sensors.
//
// A counter of energy moves in steps tens of milliseconds apart. So executes are counted from one step to another one
// that is at least `seconds` later: what the counter does not show then is the time from a step to the end of a batch
// of executes, which is short. Where there is no counter, readings of power are averaged after the work has run for
// long enough that they show nothing from before.
#pragma once

#include <optional>

#include "runtime/backends/device_sensors.h"
#include "tuner/measure/benchmark.h"

namespace fourtune::tuner {

struct EnergyOptions {
  double seconds = BenchmarkOptions().energy_seconds;  // of counted work, at least
  double patience = 2;                                 // for the counter's next step, beyond that
  double batch_seconds = 1e-3;                         // of executes between two looks at the counter
  double power_settles = 1.5;                          // readings of power look back so far
};

// Why a plan has no energy, for people.
inline constexpr const char* no_energy = "the device told no energy: its sensors have neither a counter nor a power";

// Joules of one execute, which takes `execute_seconds`; inputs that a transform in place destroys are restored between
// batches, and their copying counts. Nothing when the device tells neither energy nor power, or its counter stands
// still.
std::optional<double> joules_of_execute(const Workload& work, double execute_seconds, runtime::DeviceSensors& sensors,
                                        const EnergyOptions& options = {}, const Clock& clock = wall_clock());

}  // namespace fourtune::tuner
