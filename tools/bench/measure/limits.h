// What bounds a run of `fourtune bench`: the comparison and both suites keep to the same limits.
#pragma once

#include <string>

#include "fourtune/problem.h"
#include "tools/bench/measure/measure.h"
#include "tools/bench/measure/options.h"

namespace fourtune::tools {

// Throws UsageError where --cpu-time would not see all of the work.
void check_clock(const BenchOptions& options, int threads, const runtime::Backend& backend);
// The first Ctrl-C ends the run after the problem at work, with its tables; the second ends it at once.
void stop_on_signal();
// Why a problem is not even tried when `spent` seconds have gone by; empty: it is.
std::string why_not(const Problem& problem, const BenchOptions& options, double spent);
MeasureOptions measure_options(const BenchOptions& options, const runtime::Backend& backend, int min_rounds);

}  // namespace fourtune::tools
