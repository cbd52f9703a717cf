// The split-radix DFT with the fewest known operations: sub-DFTs are scaled so that one part of most twiddle factors is
// 1 (S. G. Johnson, M. Frigo, "A modified split-radix FFT with fewer arithmetic operations", IEEE Trans. Signal
// Processing 55, 2007). It saves operations from 64 points on, but fused multiply-adds save more than that.
#pragma once

#include <array>
#include <vector>

#include "generator/codegen/fft/codelet/dag.h"

namespace fourtune::generator::fft {

using RealImaginary = std::array<NodeId, 2>;

// X[k] = sum_j x[j] exp(-2 pi i j k / n) in natural order; n is a power of two.
std::vector<RealImaginary> tangent_fft(Dag& dag, const std::vector<RealImaginary>& x);

}  // namespace fourtune::generator::fft
