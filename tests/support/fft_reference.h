// GPU FFT plans executed on the host, sub-FFT by sub-FFT, exactly as their five numbers say
// (generator/plan/fft/notation.h), in double precision and with direct DFTs as codelets. Slow and plain on purpose:
// kernels and emitters are tested against it.
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

#include "generator/plan/fft/geometry.h"

namespace fourtune::test {

using Complex = std::complex<double>;

// Runs kernels [first, last) on one transform of elements(plan) values, x fastest. `data` is in layout(plan, first)
// and becomes layout(plan, last): (0, size) is the whole transform of natural input to output in the plan's order, and
// (k, k+1) what kernel k alone does to global memory. sign: of the exponent, -1 or +1. Not scaled.
void run_kernels(const generator::fft::FftPlan& plan, int sign, int first, int last, std::vector<Complex>& data);

// The same for one line along `dim`: only the sub-FFTs of that dimension. Sub-FFTs of different dimensions commute, so
// lines along every dimension decide whether a plan of any size is right.
void run_line(const generator::fft::FftPlan& plan, generator::fft::Dim dim, int sign, std::vector<Complex>& line);

// [position along dim in the output] = frequency index k (0..N-1) that lies there. Identity for order=natural.
std::vector<std::int64_t> frequencies(const generator::fft::FftPlan& plan, generator::fft::Dim dim);

// Sum over j of line[j] exp(sign 2 pi i j k / N), each angle reduced exactly.
Complex direct_dft(const std::vector<Complex>& line, int sign, std::int64_t k);

}  // namespace fourtune::test
