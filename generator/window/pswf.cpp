// The prolate spheroidal wave function of order zero, by the method of Xiao, Rokhlin and Yarvin (Inverse Problems 17,
// 2001): its coefficients in normalised Legendre polynomials are the eigenvector of a symmetric tridiagonal matrix
// (even and odd degrees decouple) with the smallest eigenvalue. The Kaiser-Bessel window has the same form:
// a plane wave's expansion in spherical harmonics, averaged around the axis, gives, with the modified spherical Bessel
// functions i_n,
//   I0(beta sqrt(1-x^2)) = sum_j (4j+1) P_2j(0) i_2j(beta) P_2j(x).
#include <algorithm>
#include <cmath>

#include "generator/window/detail.h"

namespace fourtune::generator::detail {
namespace {

struct Tridiagonal {
  std::vector<long double> diagonal, off;  // off[i] couples i and i+1
};

// The differential operator -(d/dx (1-x^2) d/dx) + c^2 x^2 on normalised Legendre polynomials of degree 0, 2, 4, ...
Tridiagonal prolate_operator(long double c, std::size_t terms) {
  Tridiagonal a{std::vector<long double>(terms), std::vector<long double>(terms)};
  for (std::size_t i = 0; i < terms; ++i) {
    const auto k = static_cast<long double>(2 * i);
    a.diagonal[i] = k * (k + 1) + (2 * k * (k + 1) - 1) / ((2 * k + 3) * (2 * k - 1)) * c * c;
    a.off[i] = (k + 2) * (k + 1) / ((2 * k + 3) * std::sqrt((2 * k + 1) * (2 * k + 5))) * c * c;
  }
  return a;
}

// v <- (A - shift)^-1 v, normalised; returns the Rayleigh quotient of the new v. Elimination runs from the high degrees
// down and needs no pivoting: the smallest eigenvalue of every trailing block is above the shift, which stays near the
// smallest eigenvalue of the whole matrix. Hence all pivots are positive except the last, and inverse iteration relies
// on that last pivot being small.
long double inverse_iterate(const Tridiagonal& a, long double shift, std::vector<long double>& v) {
  const std::size_t n = v.size();
  std::vector<long double> pivot(n);
  pivot[n - 1] = a.diagonal[n - 1] - shift;
  for (std::size_t i = n - 1; i-- > 0;) {
    const long double factor = a.off[i] / pivot[i + 1];
    pivot[i] = a.diagonal[i] - shift - factor * a.off[i];
    v[i] -= factor * v[i + 1];
  }
  if (pivot[0] == 0) pivot[0] = 1e-30L;
  v[0] /= pivot[0];
  for (std::size_t i = 1; i < n; ++i) v[i] = (v[i] - a.off[i - 1] * v[i - 1]) / pivot[i];
  long double norm = 0;
  for (const long double element : v) norm += element * element;
  norm = std::sqrt(norm);
  for (long double& element : v) element /= norm;
  long double quotient = 0;
  for (std::size_t i = 0; i < n; ++i) {
    quotient += a.diagonal[i] * v[i] * v[i];
    if (i + 1 < n) quotient += 2 * a.off[i] * v[i] * v[i + 1];
  }
  return quotient;
}

// Number of even Legendre coefficients that matter for bandwidth c. They decay like exp(-k^2 / (2 c)) up to degree k
// near c, and faster than geometrically beyond.
std::size_t series_length(double c) { return static_cast<std::size_t>(14 + std::ceil(0.5 * c + 3 * std::sqrt(c))); }

// P_2j(0) for j = 0 .. terms-1.
std::vector<long double> legendre_at_origin(std::size_t terms) {
  std::vector<long double> values(terms, 1);
  for (std::size_t j = 1; j < terms; ++j) {
    const auto k = static_cast<long double>(2 * j);
    values[j] = values[j - 1] * -(k - 1) / k;
  }
  return values;
}

// The series scaled to 1 at the origin, without the negligible coefficients at its end.
std::vector<double> normalised(const std::vector<long double>& v) {
  const std::vector<long double> legendre = legendre_at_origin(v.size());
  long double at_origin = 0;
  for (std::size_t j = 0; j < v.size(); ++j) at_origin += v[j] * legendre[j];
  std::vector<double> series;
  for (const long double coefficient : v) series.push_back(static_cast<double>(coefficient / at_origin));
  while (series.size() > 1 && std::abs(series.back()) < 1e-19) series.pop_back();
  return series;
}

}  // namespace

std::vector<double> pswf_series(double c) {
  const std::size_t terms = series_length(c);
  const Tridiagonal a = prolate_operator(c, terms);
  std::vector<long double> v(terms, 0);
  v[0] = 1;
  // chi_0 = c - 3/4 + O(1/c) for large c and below c^2 / 3 for small c; the next even eigenvalue is 4 c or more away.
  long double shift = std::min(c * c / 3.0, c - 0.75);
  for (int iteration = 0; iteration < 6; ++iteration) {
    const long double quotient = inverse_iterate(a, shift, v);
    if (std::abs(quotient - shift) < 1e-12L * (1 + c)) break;
    shift = quotient;
  }
  for (std::size_t j = 0; j < terms; ++j) v[j] *= std::sqrt(2 * static_cast<long double>(j) + 0.5L);
  return normalised(v);
}

std::vector<double> kaiser_bessel_series(double beta) {
  // The modified spherical Bessel functions by Miller's downward recurrence i_n-1 = i_n+1 + (2n+1)/beta i_n; scaling
  // the series to 1 at the origin removes their common factor.
  const std::size_t terms = series_length(beta);
  std::vector<long double> v(terms);
  long double above = 0, bessel = 1e-60L;
  for (std::size_t n = 2 * terms + 20; n > 0; --n) {
    const long double below = above + static_cast<long double>(2 * n + 1) / beta * bessel;
    above = bessel;
    bessel = below;  // i_n-1
    if (n % 2 == 1 && n / 2 < terms) v[n / 2] = bessel;
  }
  const std::vector<long double> legendre = legendre_at_origin(terms);
  for (std::size_t j = 0; j < terms; ++j) v[j] *= static_cast<long double>(4 * j + 1) * legendre[j];
  return normalised(v);
}

void even_legendre_series(const std::vector<double>& coefficients, const double* x, long count, double* out) {
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

}  // namespace fourtune::generator::detail
