// Executes GPU FFT plans on the host, sub-FFT by sub-FFT, exactly as their five numbers say
// (generator/plan/fft/notation.h), in double precision and with direct DFTs as codelets. It is intentionally slow and
// simple, because kernels and emitters are tested against it.
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

#include "generator/plan/fft/geometry.h"

namespace fourtune::test {

using Complex = std::complex<double>;

// Runs kernels [first, last) on one transform of elements(plan) values, x fastest. `data` is given in layout(plan,
// first) and returned in layout(plan, last). (0, size) is the whole transform from natural input to output in the
// plan's order; (k, k+1) is what kernel k alone does to global memory. sign is that of the exponent, -1 or +1. Nothing
// is scaled.
void run_kernels(const generator::fft::FftPlan& plan, int sign, int first, int last, std::vector<Complex>& data);

// The same for one line along `dim`, with the sub-FFTs of that dimension only. Sub-FFTs of different dimensions
// commute, so lines along every dimension are enough to test a plan of any size.
void run_line(const generator::fft::FftPlan& plan, generator::fft::Dim dim, int sign, std::vector<Complex>& line);

// Maps each position along dim in the output to the frequency index k (0..N-1) stored there. The identity for
// order=natural.
std::vector<std::int64_t> frequencies(const generator::fft::FftPlan& plan, generator::fft::Dim dim);

// The sum over j of line[j] exp(sign 2 pi i j k / N), with each angle reduced exactly.
Complex direct_dft(const std::vector<Complex>& line, int sign, std::int64_t k);

}  // namespace fourtune::test
