// The comparison of a list of problems with peers and with FFTW.
#pragma once

#include "tools/bench/measure/options.h"

namespace fourtune::tools {

// Prints to stdout. Throws Failure at the end when one of our answers was wrong.
void run_comparison(const BenchOptions& options);
// What a child process does: prints its FirstUse for options.memory_child.
void run_memory_child(const BenchOptions& options);

}  // namespace fourtune::tools
