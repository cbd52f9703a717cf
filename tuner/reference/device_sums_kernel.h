// The kernel of direct sums, as a CUDA text.
#pragma once

#include <cstdint>

#include "generator/codegen/kernel_source.h"

namespace fourtune::tuner {

// Outputs that a thread sums at a time, and threads of a block.
inline constexpr int sums_group = 4, sums_threads = 256;

// (void* x, void* y, void* z, void* values, double* outputs, double* sums, long long count, long long dim, long long
// single, long long modes, long long n0, long long n1, long long n2, long long order, double most), on a grid of
// (parts, groups) blocks.
//   sums[(part 4 groups + i) 2 ..]: the part's share of sum_j values[j] exp(2 pi i a_j . b_i), real and imaginary
// outputs[i][3]: b_i as sums of two doubles. a_j: with `modes` the mode stored at j of n0 n1 n2 (order 1: in FFT order,
// else centred), else (x, y, z)[j]; of either only `dim` count. single: arrays are of floats, else doubles. Where a
// coordinate is beyond `most`, above which turns would lose digits, sums are NaN. There is one kernel for all, so that
// it is compiled once.
generator::KernelSource sums_kernel();

}  // namespace fourtune::tuner
