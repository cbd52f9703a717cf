// Limits of a run of `fourtune bench`, which the comparison and the suites share.
#pragma once

#include <string>

#include "fourtune/problem.h"
#include "tools/bench/measure/measure.h"
#include "tools/bench/measure/options.h"

namespace fourtune::tools {

// Throws UsageError where --cpu-time would not count all of the work.
void check_clock(const BenchOptions& options, int threads, const runtime::Backend& backend);
// The first Ctrl-C ends the run after the current problem and prints its tables; the second ends it at once.
void stop_on_signal();
// The reason why a problem is not even tried after `spent` seconds; empty if it is tried.
std::string why_not(const Problem& problem, const BenchOptions& options, double spent);
MeasureOptions measure_options(const BenchOptions& options, const runtime::Backend& backend, int min_rounds);

}  // namespace fourtune::tools
