// What the window's files share and nobody else needs.
#pragma once

#include <vector>

namespace fourtune::generator::detail {

// Positive nodes of the 2q-point Gauss-Legendre rule on [-1, 1], in increasing order, and their weights: integrates
// even polynomials of degree 4q - 2 over [0, 1] exactly.
struct Quadrature {
  std::vector<double> nodes, weights;
};
Quadrature half_gauss_legendre(int q);
// q-point Gauss-Legendre rule on [0, length].
Quadrature gauss_legendre(int q, double length);

// Coefficients of P_0, P_2, P_4, ... of the prolate spheroidal wave function of order zero with bandwidth c, scaled to
// 1 at the origin.
std::vector<double> pswf_coefficients(double c);
// out[i] = sum_k coefficients[k] P_2k(x[i]).
void even_legendre_series(const std::vector<double>& coefficients, const double* x, long count, double* out);

double bessel_i0(double t);  // modified Bessel function of the first kind, order 0, 0 <= t <= 300

}  // namespace fourtune::generator::detail
