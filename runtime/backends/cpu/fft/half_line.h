// One real line of even length as a complex one of m pairs of neighbours: what the kernels split_line and merge_line
// (simd.h) leave to do.
#pragma once

#include <cmath>
#include <complex>
#include <cstdint>
#include <numbers>
#include <vector>

namespace fourtune::runtime::cpu {

// exp(-pi i k / m) for k <= m/2: products of two short tables, so that long lines do not wait for sines.
template <class T>
std::vector<T> half_turns(std::int64_t m) {
  constexpr std::int64_t kFine = 256;
  const auto root = [m](std::int64_t k) {
    const double turn = -std::numbers::pi * static_cast<double>(k) / static_cast<double>(m);
    return std::complex<double>(std::cos(turn), std::sin(turn));
  };
  std::vector<std::complex<double>> fine;
  for (std::int64_t k = 0; k < kFine; ++k) fine.push_back(root(k));
  std::vector<T> turns;
  turns.reserve(static_cast<std::size_t>(m + 2));
  for (std::int64_t first = 0; 2 * first <= m; first += kFine) {
    const std::complex<double> coarse = root(first);
    for (std::int64_t k = 0; k < kFine && 2 * (first + k) <= m; ++k) {
      const std::complex<double>& x = fine[static_cast<std::size_t>(k)];
      turns.push_back(static_cast<T>(coarse.real() * x.real() - coarse.imag() * x.imag()));
      turns.push_back(static_cast<T>(coarse.real() * x.imag() + coarse.imag() * x.real()));
    }
  }
  return turns;
}

// Positions 0 and m of the half spectrum, of the complex transform's value 0; and that value of the two.
template <class T>
void split_ends(std::complex<T>* line, std::int64_t m) {
  const std::complex<T> first = line[0];
  line[0] = first.real() + first.imag();
  line[m] = first.real() - first.imag();
}
template <class T>
std::complex<T> merged_ends(const std::complex<T>* spectrum, std::int64_t m) {
  const T first = spectrum[0].real(), last = spectrum[m].real();
  return {first + last, first - last};
}

}  // namespace fourtune::runtime::cpu
