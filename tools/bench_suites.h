// The papers' experiments.
#pragma once

#include "tools/bench_options.h"

namespace fourtune::tools {

// Paper nufft3d-cpu-optimization, Table 4: random, radial and spiral points in 3D; serial, threaded, vectorised, tuned.
void run_suite_nufft3d_cpu(const BenchOptions& options);
// Paper nufft-type3-cuda, Figure 1 and Table 2: steps of a 2D type 3 for N = K and N = K^2.
void run_suite_nufft_type3(const BenchOptions& options);

}  // namespace fourtune::tools
