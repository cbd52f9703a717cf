// Declarations that only the window's files use: half_gauss_legendre and gauss_legendre are in quadrature.cpp, the
// series in pswf.cpp.
#pragma once

#include <vector>

namespace fourtune::generator::detail {

// Positive nodes of the 2q-point Gauss-Legendre rule on [-1, 1], in increasing order, and their weights. The rule
// integrates even polynomials of degree 4q - 2 over [0, 1] exactly.
struct Quadrature {
  std::vector<double> nodes, weights;
};
Quadrature half_gauss_legendre(int q);
// q-point Gauss-Legendre rule on [0, length].
Quadrature gauss_legendre(int q, double length);

// Windows as series sum_k a_k P_2k(x) in even Legendre polynomials; both are scaled to 1 at the origin.
std::vector<double> pswf_series(double c);              // prolate spheroidal wave function of order 0, bandwidth c
std::vector<double> kaiser_bessel_series(double beta);  // I0(beta sqrt(1-x^2)) / I0(beta)
// out[i] = sum_k a[k] P_2k(x[i]).
void even_legendre_series(const std::vector<double>& a, const double* x, long count, double* out);

}  // namespace fourtune::generator::detail
