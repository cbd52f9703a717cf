// The kernel of direct sums, as a CUDA text.
#pragma once

#include <cstdint>

#include "fourtune/problem.h"
#include "generator/codegen/kernel_source.h"

namespace fourtune::tuner {

// Outputs that a thread sums at a time, and threads of a block.
inline constexpr int sums_group = 4, sums_threads = 256;

// (real* x, real* y, real* z, real2* values, double* outputs, double* sums, long long count, long long n0, long long n1,
// long long n2, long long order, double most), on a grid of (parts, groups) blocks.
//   sums[(part 4 groups + i) 2 ..]: the part's share of sum_j values[j] exp(2 pi i a_j . b_i), real and imaginary
// outputs[i][d]: b_id as a sum of two doubles. a_j: over_modes: the centred mode stored at j of n0 n1 n2 (order 1: stored in
// FFT order), else (x, y, z)[j]; arrays of dimensions above `dim` are not read. Where a coordinate is beyond `most`, above
// which turns would lose digits, sums are NaN.
generator::KernelSource sums_kernel(Precision precision, int dim, bool over_modes);

}  // namespace fourtune::tuner
