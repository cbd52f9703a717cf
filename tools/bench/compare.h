// Compares our transforms with peers and with FFTW on a list of problems.
#pragma once

#include "tools/bench/measure/options.h"

namespace fourtune::tools {

// Prints to stdout. Throws Failure at the end when one of our results was wrong.
void run_comparison(const BenchOptions& options);
// The work of a child process: it prints its FirstUse for options.memory_child.
void run_memory_child(const BenchOptions& options);

}  // namespace fourtune::tools
