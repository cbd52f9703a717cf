// The direct sums of the discrete Fourier transform, in extended precision. Whole transforms of many lengths are
// compared with them, so they take most of the time of those tests.
#pragma once

#include <cmath>
#include <complex>
#include <cstdint>
#include <numbers>
#include <utility>
#include <vector>

namespace fourtune::test {

using LongComplex = std::complex<long double>;

// exp(2 pi i j / n) for j = 0 to n - 1, until the next call for another n.
inline const std::vector<LongComplex>& roots(std::int64_t n) {
  thread_local std::vector<LongComplex> kept;
  if (static_cast<std::int64_t>(kept.size()) != n) {
    kept.clear();
    for (std::int64_t j = 0; j < n; ++j)
      kept.push_back(std::polar(
          1.0L, 2 * std::numbers::pi_v<long double> * static_cast<long double>(j) / static_cast<long double>(n)));
  }
  return kept;
}

// The sum over j of in[j * stride] root[j k mod n], for the n-th roots of unity and 0 <= k < n, and the same for -k,
// whose products are those of k. Sanitizers do not watch it: they would take three quarters of its time.
template <class T>
__attribute__((no_sanitize("address", "thread", "undefined"))) std::pair<LongComplex, LongComplex> direct_sums(
    const LongComplex* root, std::int64_t n, std::int64_t k, const std::complex<T>* in, std::int64_t stride) {
  const auto* const circle = reinterpret_cast<const long double*>(root);
  const auto* value = reinterpret_cast<const T*>(in);
  long double real_real = 0, imag_imag = 0, real_imag = 0, imag_real = 0;
  for (std::int64_t j = 0, at = 0; j < n; ++j, value += 2 * stride) {
    const long double x = circle[2 * at], y = circle[2 * at + 1], re = value[0], im = value[1];
    real_real += x * re, imag_imag += y * im, real_imag += x * im, imag_real += y * re;
    at += k;
    if (at >= n) at -= n;
  }
  return {{real_real - imag_imag, real_imag + imag_real}, {real_real + imag_imag, real_imag - imag_real}};
}

// sum[i] += factor * value[i] for i < count.
__attribute__((no_sanitize("address", "thread", "undefined"))) inline void add_product(LongComplex* sum,
                                                                                       const LongComplex& factor,
                                                                                       const LongComplex* value,
                                                                                       std::int64_t count) {
  const auto* const from = reinterpret_cast<const long double*>(value);
  auto* const to = reinterpret_cast<long double*>(sum);
  const long double x = factor.real(), y = factor.imag();
  for (std::int64_t i = 0; i < 2 * count; i += 2) {
    to[i] += x * from[i] - y * from[i + 1];
    to[i + 1] += x * from[i + 1] + y * from[i];
  }
}

// The transform of n values that lie `stride` apart.
template <class T>
std::vector<LongComplex> direct_dft(const std::complex<T>* in, std::int64_t n, std::int64_t stride, int sign) {
  const LongComplex* const root = roots(n).data();
  std::vector<LongComplex> out(static_cast<std::size_t>(n));
  for (std::int64_t k = 0; 2 * k <= n; ++k) {
    const auto [plus, minus] = direct_sums(root, n, k, in, stride);
    out[static_cast<std::size_t>((n - k) % n)] = sign > 0 ? minus : plus;
    out[static_cast<std::size_t>(k)] = sign > 0 ? plus : minus;
  }
  return out;
}

}  // namespace fourtune::test
