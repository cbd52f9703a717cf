// The interleaved rounds of finalists.
#pragma once

#include <vector>

#include "tuner/measure/evaluator.h"

namespace fourtune::tuner {

// Times every plan once per round, each time in a new random order, and stores the samples in `result`. Its culprit is
// the plan that is running, and the last one when all have ended well. loops: executes per sample, one entry per plan. A
// round is kept when none of its samples was disturbed; others are repeated for as long again as the request says.
void measure_rounds(const FinalsRequest& request, const BenchmarkOptions& options, const std::vector<Workload>& works,
                    const std::vector<int>& loops, const Probe& probe, FinalsResult& result);

}  // namespace fourtune::tuner
