// Window functions: the maths that every spreader and interpolator shares, CPU and GPU.
//
// Conventions. A window of width w covers w neighbouring fine-grid cells. phi(x) is defined for x in [-1, 1], where x =
// 1 is w/2 cells from the point; phi is even, 1 at 0, and 0 outside. A point at fine-grid position u (in cells) touches
// the cells i0 .. i0+w-1, i0 = ceil(u - w/2), with weights phi(2 (i - u) / w).
//
// Position inside the cell. Let d = i0 - (u - w/2), in [0, 1). Cell i0 + p, 0 <= p < w, is p + d - w/2 cells from the
// point, at window coordinate x = 2 (p + d) / w - 1. Piecewise polynomials use z = 2 d - 1 in [-1, 1), so that
//   weight_p(z) = phi(2 (p + (z + 1) / 2) / w - 1),   and   weight_{w-1-p}(z) = weight_p(-z)   as phi is even.
//
// All functions are pure and may be called from any thread.
#pragma once

#include <vector>

namespace fourtune::generator {

enum class WindowKind {
  exp_semicircle,  // exp(beta (sqrt(1-x^2) - 1))                          (FINUFFT, Barnett et al. 2019)
  kaiser_bessel,   // I0(beta sqrt(1-x^2)) / I0(beta)
  pswf,            // prolate spheroidal wave function of order zero, bandwidth c = beta
  gaussian,        // exp(-beta x^2)
};
const char* to_string(WindowKind kind) noexcept;  // "es", "kb", "pswf", "gaussian": spellings of plan texts

// Widest window of the tuned families; the Gaussian type-3 path of paper nufft-type3-cuda goes to kMaxGaussianWidth.
inline constexpr int kMinWidth = 2;
inline constexpr int kMaxWidth = 16;
inline constexpr int kMaxGaussianWidth = 65;
inline constexpr double kMaxSigma = 4;   // 1 < sigma <= kMaxSigma
inline constexpr double kMaxBeta = 300;  // 0 < beta <= kMaxBeta

// A window with its shape bound. Immutable, usable from any thread.
class Window {
 public:
  // Shape parameter chosen for width and oversampling: beta_rule (docs/windows.md).
  // Throws Error{invalid_plan} when width or sigma is out of range.
  Window(WindowKind kind, int width, double sigma);
  // Explicit shape parameter. Throws Error{invalid_plan} when width, sigma or beta is out of range.
  Window(WindowKind kind, int width, double sigma, double beta);

  WindowKind kind() const noexcept { return kind_; }
  int width() const noexcept { return width_; }
  double sigma() const noexcept { return sigma_; }
  double beta() const noexcept { return beta_; }

  double value(double x) const;  // phi(x), x in [-1, 1]; 0 outside; absolute accuracy near 1e-15
  // The same for many: out[i] = phi(x[i]), i < count. Several times faster than one at a time.
  void evaluate(const double* x, long count, double* out) const;

  // Fourier transform in grid units: integral over s in cells of phi(2 s / w) cos(xi s) ds, |xi| <= pi.
  // Gauss-Legendre quadrature, absolute accuracy near 1e-15 of fourier(0).
  double fourier(double xi) const;
  // The same for many frequencies xi_j = j * step, j = 0 .. count-1, 0 <= step * (count - 1) <= pi: the inverses of the
  // deconvolution factors of modes |k| = j when step = 2 pi / fine.
  // Throws Error{invalid_argument} when the range is left.
  std::vector<double> fourier_table(double step, long count) const;
  // The same for scattered frequencies (targets of type 3), each |xi[i]| <= limit <= pi; a few ns each.
  // Throws Error{invalid_argument} for a limit outside (0, pi]; an xi outside the limit gives an unspecified value.
  void fourier_many(const double* xi, long count, double limit, double* out) const;

 private:
  WindowKind kind_;
  int width_;
  double sigma_, beta_;
  std::vector<double> series_;           // of P_0, P_2, P_4, ...: pswf and kaiser_bessel
  std::vector<double> nodes_, weights_;  // quadrature on [0, 1] with phi and the factor w folded into the weights
};

// The shape parameter of Window(kind, width, sigma): near the one that minimises aliasing_error (docs/windows.md).
// Throws like that constructor.
double beta_rule(WindowKind kind, int width, double sigma);

// Piecewise polynomial form of a window: piece p (0 <= p < width) gives the weight of cell i0 + p at the position z in
// [-1, 1) defined above: weight_p(z) = sum over k of coefficient(k, p) z^(degree - k): k = 0 is the leading one, as
// Horner wants them.
struct PiecewisePolynomial {
  int width = 0;
  int degree = 0;
  std::vector<double> coefficients;  // (degree+1) x width, row k: power degree-k
  double error = 0;  // largest error seen over a grid of check points in every piece, relative to the window's maximum
  double coefficient(int k, int piece) const {
    return coefficients[static_cast<std::size_t>(k) * static_cast<std::size_t>(width) +
                        static_cast<std::size_t>(piece)];
  }
  double operator()(int piece, double z) const;
};
inline constexpr int kMaxDegree = 31;
// Least degree whose maximal error, relative to the window's maximum, is at most `accuracy` (not taken below 1e-15,
// which is what doubles can give). A window that no degree up to kMaxDegree can fit that well (exp_semicircle has a
// square root at its ends) gets the least degree within 1.25 of the smallest error; `error` tells. Throws
// Error{invalid_argument} unless accuracy is positive.
PiecewisePolynomial fit(const Window& window, double accuracy);
// What spreading and interpolation should use unless told otherwise: the least degree that makes the transform's error
// (aliasing_error with the polynomial's weights) at most 1 + excess times that of the window itself.
// Throws Error{invalid_argument} unless excess is positive.
PiecewisePolynomial fit_within(const Window& window, double excess = 0.05);

// Least width whose predicted_error is at most tol, or 0 if none up to kMaxWidth is. A tol below 10 eps of double
// counts as 10 eps. `stages` is 1 for types 1 and 2, 2 for type 3 (two windows share the tolerance). Derivation and
// table are in docs/windows.md. Throws Error{invalid_argument} for a bad tol, dim or stages, Error{invalid_plan} for a
// bad sigma.
int width_for(WindowKind kind, double tol, double sigma, int dim, int stages = 1);
// The relative l2 error that window, width and oversampling are predicted to give in exact arithmetic, for random
// points and strengths (the inverse of width_for).
double predicted_error(WindowKind kind, int width, double sigma, int dim, int stages = 1);

// How much deconvolution magnifies rounding, one dimension: sqrt(integral of phi^2 times mean of 1/F^2 over |xi| <=
// pi/sigma). The rounding error of a transform is about eps times this to the power of dim; wide windows at small
// oversampling lose digits by it (pswf, w=11: 17 at sigma 1.25, 3.0 at 1.5, 1.0 at 2).
double rounding_magnification(const Window& window);
// The same for a window with any shape parameter.
double aliasing_error(const Window& window, int dim, int stages = 1);
// The same when the weights are those of a piecewise polynomial (and deconvolution is the window's).
double aliasing_error(const Window& window, const PiecewisePolynomial& polynomial, int dim, int stages = 1);

}  // namespace fourtune::generator
