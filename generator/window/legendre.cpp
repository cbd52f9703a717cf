// Windows as series in even Legendre polynomials.
#include <algorithm>
#include <cmath>

#include "generator/window/detail.h"

namespace fourtune::generator::detail {

// Coefficients decay like exp(-k^2 / (2 c)) up to degree k near c, and faster than geometrically beyond.
std::size_t series_length(double c) { return static_cast<std::size_t>(14 + std::ceil(0.5 * c + 3 * std::sqrt(c))); }

std::vector<long double> legendre_at_origin(std::size_t terms) {
  std::vector<long double> values(terms, 1);
  for (std::size_t j = 1; j < terms; ++j) {
    const auto k = static_cast<long double>(2 * j);
    values[j] = values[j - 1] * -(k - 1) / k;
  }
  return values;
}

std::vector<double> normalised(const std::vector<long double>& v) {
  const std::vector<long double> legendre = legendre_at_origin(v.size());
  long double at_origin = 0;
  for (std::size_t j = 0; j < v.size(); ++j) at_origin += v[j] * legendre[j];
  std::vector<double> series;
  for (const long double coefficient : v) series.push_back(static_cast<double>(coefficient / at_origin));
  while (series.size() > 1 && std::abs(series.back()) < 1e-19) series.pop_back();
  return series;
}

void evaluate_series(double, const std::vector<double>& coefficients, const double* x, long count, double* out) {
  // Works on blocks of points, so that the inner loop runs over points and vectorises. The recurrence P_k+1 = ((2k+1) x
  // P_k - k P_k-1) / (k+1) is stable on [-1, 1].
  constexpr long block = 16;
  double even[block], odd[block], sum[block], at[block];
  for (long start = 0; start < count; start += block) {
    const long size = std::min(block, count - start);
    for (long i = 0; i < block; ++i) {
      at[i] = i < size ? x[start + i] : 0;
      even[i] = 1;
      odd[i] = at[i];
      sum[i] = coefficients[0];
    }
    for (std::size_t j = 1; j < coefficients.size(); ++j) {
      const double k = 2.0 * static_cast<double>(j);
      const double a = (2 * k - 1) / k, b = (k - 1) / k;          // P_k from P_k-1, P_k-2
      const double a1 = (2 * k + 1) / (k + 1), b1 = k / (k + 1);  // P_k+1 from P_k, P_k-1
      const double coefficient = coefficients[j];
      for (long i = 0; i < block; ++i) {
        even[i] = a * at[i] * odd[i] - b * even[i];
        odd[i] = a1 * at[i] * even[i] - b1 * odd[i];
        sum[i] += coefficient * even[i];
      }
    }
    for (long i = 0; i < size; ++i) out[start + i] = sum[i];
  }
}

int quadrature_of_bandlimited(int width, double beta) {
  return 7 + static_cast<int>(std::ceil((cosine_degree(width) + beta) / 4));
}

}  // namespace fourtune::generator::detail
