// The prolate spheroidal wave function of order zero, by the method of Xiao, Rokhlin and Yarvin (Inverse Problems 17,
// 2001): its coefficients in normalised Legendre polynomials are the eigenvector of a symmetric tridiagonal matrix
// (even and odd degrees decouple) with the smallest eigenvalue. Also the modified Bessel function of Kaiser's window.
#include <algorithm>
#include <cmath>

#include "generator/window_detail.h"

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

// v <- (A - shift)^-1 v, normalised; returns the Rayleigh quotient of the new v. Elimination without pivoting: the
// pivots are of the size of the gap to the next eigenvalue except the last-but-few, whose growth is what inverse
// iteration lives on.
long double inverse_iterate(const Tridiagonal& a, long double shift, std::vector<long double>& v) {
  const std::size_t n = v.size();
  std::vector<long double> pivot(n);
  // Eliminated from the high degrees down: there the diagonal dominates, and the nearly singular pivot comes last.
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

}  // namespace

std::vector<double> pswf_coefficients(double c) {
  // Coefficients fall like exp(-k^2 / (2 c)) up to degree k near c, and faster than geometrically beyond.
  const auto terms = static_cast<std::size_t>(14 + std::ceil(0.5 * c + 3 * std::sqrt(c)));
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
  // From normalised to plain Legendre polynomials, then to 1 at the origin: P_2k(0) = -(2k-1)/(2k) P_2k-2(0).
  long double at_origin = 0, legendre = 1;
  for (std::size_t i = 0; i < terms; ++i) {
    const auto k = static_cast<long double>(2 * i);
    if (i > 0) legendre *= -(k - 1) / k;
    v[i] *= std::sqrt(k + 0.5L);
    at_origin += v[i] * legendre;
  }
  std::vector<double> coefficients(terms);
  for (std::size_t i = 0; i < terms; ++i) coefficients[i] = static_cast<double>(v[i] / at_origin);
  while (coefficients.size() > 1 && std::abs(coefficients.back()) < 1e-19) coefficients.pop_back();
  return coefficients;
}

void even_legendre_series(const std::vector<double>& coefficients, const double* x, long count, double* out) {
  // Blocks of points so that the inner loops vectorise. The recurrence in steps of two,
  //   P_k+2 = ((2k+3)/(k+2)) (x P_k+1) - ((k+1)/(k+2)) P_k, is used as it stands: it is stable on [-1, 1].
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

double bessel_i0(double t) {
  // Power series sum (t^2/4)^k / k!^2: every term is positive, so nothing cancels.
  const double quarter = t * t / 4;
  double term = 1, sum = 1;
  for (int k = 1; k < 1000 && term > 1e-18 * sum; ++k) {
    term *= quarter / (static_cast<double>(k) * k);
    sum += term;
  }
  return sum;
}

}  // namespace fourtune::generator::detail
