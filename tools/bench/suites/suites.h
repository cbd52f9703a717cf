// The papers' experiments: fft3d.cpp, nufft3d.cpp, type3.cpp, cufinufft.cpp.
#pragma once

#include <functional>

#include "generator/plan/fft/notation.h"
#include "tools/bench/measure/options.h"

namespace fourtune::tools {

// Paper nufft3d-cpu-optimization, Table 4: random, radial and spiral points in 3D; serial, threaded, vectorised, tuned.
void run_suite_nufft3d_cpu(const BenchOptions& options);
// Paper nufft-type3-cuda, Figure 1 and Table 2: the steps of a 2D type 3 for N = K and N = K^2, on any backend.
void run_suite_nufft_type3(const BenchOptions& options);
// Paper cufinufft, Figures 2 to 7, Tables I and II, on a device.
void run_suite_cufinufft(const BenchOptions& options);
// Paper fft3d-interleaved-plans: its plans and sizes, on a device.
void run_suite_fft3d_interleaved(const BenchOptions& options);

// Converts a result of this plan (f32, dense, one transform) from digit-reversed order to natural order.
std::function<void(void*)> digit_reversal(const generator::fft::FftPlan& plan);

}  // namespace fourtune::tools
