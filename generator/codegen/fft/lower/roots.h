// Roots of unity for tables: a few bits better than double precision, for millions of entries in a moment.
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

namespace fourtune::generator::fft {

// exp(sign 2 pi i k / n) for any k of 0..n-1. Each is the product of two entries of tables with about sqrt(n) entries
// each, which costs one rounding more than a sine and a cosine, and a tenth of their time.
class Roots {
 public:
  Roots(std::int64_t n, int sign);
  std::complex<long double> operator[](std::int64_t k) const {
    const auto &a = coarse_[static_cast<std::size_t>(k / step_)], &b = fine_[static_cast<std::size_t>(k % step_)];
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
  }

 private:
  std::int64_t step_ = 1;
  std::vector<std::complex<long double>> coarse_, fine_;  // of multiples of step_, and of what is below it
};

}  // namespace fourtune::generator::fft
