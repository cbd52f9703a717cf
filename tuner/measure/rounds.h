// The interleaved rounds of finalists.
#pragma once

#include <functional>
#include <vector>

#include "runtime/backends/device_sensors.h"
#include "tuner/measure/evaluator.h"

namespace fourtune::tuner {

// Times every plan once per round, each time in a new random order, and stores the samples in `result`. Its culprit is
// the plan that is running, and the last one when all have ended well. loops: executes per sample, one entry per plan.
// A disturbed sample is taken again at once, a few times. A round that then has all samples is kept; others are
// repeated for as long again as the request says.
// slowed: whether the device holds its clocks down just now (device_sensors.h); a few such rounds are repeated, too.
void measure_rounds(const FinalsRequest& request, const BenchmarkOptions& options, const std::vector<Workload>& works,
                    const std::vector<int>& loops, const Probe& probe, const std::function<bool()>& slowed,
                    FinalsResult& result);
// The energies of every plan, energy_rounds times in turn. seconds: of one execute, one entry per plan. Throws
// Error{unsupported} when the device does not tell its energy.
void measure_energies(const FinalsRequest& request, const std::vector<Workload>& works,
                      const std::vector<double>& seconds, runtime::DeviceSensors* sensors, FinalsResult& result);

}  // namespace fourtune::tuner
