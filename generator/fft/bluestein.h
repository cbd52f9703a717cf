// Bluestein's algorithm: DFTs of any length as convolutions of a power of two (any_size.h has the formula).
#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <vector>

#include "generator/fft/emit.h"

namespace fourtune::generator::fft {

// exp(sign pi i j^2 / n), j < n.
std::vector<std::complex<long double>> chirps(std::int64_t n, int sign);
// DFT over m of the conjugate chirp, over m, so that an unscaled inverse DFT follows.
std::vector<std::complex<long double>> filter(std::int64_t n, std::int64_t m, int sign);

// The longest convolution that one block holds.
std::int64_t most_convolved(Precision precision);

// All lines along one dimension: lengths and strides of x, y, z and the batch.
struct Lines {
  std::array<std::int64_t, 4> n{1, 1, 1, 1}, load{}, store{};
  Values loaded = Values::complex, stored = Values::complex;  // along the dimension
  std::int64_t kept = 0;                                      // results of a line that are stored, from the first on
};

// One kernel for the DFTs along dimension d. Throws Error{unsupported} for lines longer than a block holds.
PlannedPass bluestein_pass(const EmitOptions& options, int d, const Lines& lines);

}  // namespace fourtune::generator::fft
