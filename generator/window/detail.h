// Declarations that only the window's files use: half_gauss_legendre and gauss_legendre are in quadrature.cpp, what
// windows that are series have in common in legendre.cpp.
#pragma once

#include <cstddef>
#include <numbers>
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

// Windows as series sum_k a_k P_2k(x) in even Legendre polynomials, for bandwidth beta.
std::size_t series_length(double beta);                          // how many coefficients matter
std::vector<long double> legendre_at_origin(std::size_t terms);  // P_2j(0) for j = 0 .. terms-1
// The series scaled to 1 at the origin, without the negligible coefficients at its end.
std::vector<double> normalised(const std::vector<long double>& v);
// out[i] = sum_k a[k] P_2k(x[i]).
void evaluate_series(double beta, const std::vector<double>& a, const double* x, long count, double* out);
int quadrature_of_bandlimited(int width, double beta);

// Degree of cos(xi w x / 2), |xi| <= pi.
inline double cosine_degree(int width) { return std::numbers::pi * width / 2; }

}  // namespace fourtune::generator::detail
