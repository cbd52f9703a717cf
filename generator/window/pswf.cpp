// The prolate spheroidal wave function of order zero, by the method of Xiao, Rokhlin and Yarvin (Inverse Problems 17,
// 2001): its coefficients in normalised Legendre polynomials are the eigenvector of a symmetric tridiagonal matrix
// (even and odd degrees decouple) with the smallest eigenvalue.
#include <algorithm>
#include <cmath>

#include "generator/window/detail.h"
#include "generator/window/formula.h"

namespace fourtune::generator {
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

struct Prolate {
  static std::vector<double> series(double c) {
    const std::size_t terms = detail::series_length(c);
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
    return detail::normalised(v);
  }

  static double shape(double width, double t) {
    return window_edge(width, t) - quadratic(t, 0.064, 0.97, -0.092) / width -
           quadratic(t, 1.652, -7.571, 6.455) / (width * width);
  }
};

}  // namespace

const WindowFormula pswf_formula{.name = "pswf",
                                 .shape = Prolate::shape,
                                 .series = Prolate::series,
                                 .evaluate = detail::evaluate_series,
                                 .quadrature_size = detail::quadrature_of_bandlimited};

}  // namespace fourtune::generator
