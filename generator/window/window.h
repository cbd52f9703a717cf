// Window functions: the maths that all spreaders and interpolators on CPUs and GPUs share. Window is in window.cpp (its
// Fourier transforms in fourier.cpp), the formula of each in a file of its name (formula.h), fits are in fit.cpp,
// errors and widths in width.cpp.
//
// Conventions. A window of width w covers w adjacent fine-grid cells. phi(x) is defined for x in [-1, 1], where x = 1
// is w/2 cells from the point; phi is even, 1 at 0, and 0 outside [-1, 1]. A point at fine-grid position u (in cells)
// touches the cells i0 .. i0+w-1, i0 = ceil(u - w/2), with weights phi(2 (i - u) / w).
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
inline constexpr int kWindowCount = static_cast<int>(WindowKind::gaussian) + 1;  // the last one stays it
// Those that planners try, the better ones first.
inline constexpr WindowKind kTriedWindows[] = {WindowKind::pswf, WindowKind::kaiser_bessel};
const char* to_string(WindowKind kind) noexcept;  // "es", "kb", "pswf", "gaussian": as spelled in plan texts

// Range of widths of the tuned families. The Gaussian type-3 path of paper nufft-type3-cuda allows widths up to
// kMaxGaussianWidth.
inline constexpr int kMinWidth = 2;
inline constexpr int kMaxWidth = 16;
inline constexpr int kMaxGaussianWidth = 65;
int widest(WindowKind kind) noexcept;    // kMaxWidth or kMaxGaussianWidth
inline constexpr double kMaxSigma = 4;   // 1 < sigma <= kMaxSigma
inline constexpr double kMaxBeta = 300;  // 0 < beta <= kMaxBeta

// A window with a fixed shape parameter. Immutable, usable from any thread.
class Window {
 public:
  // Chooses the shape parameter from width and oversampling factor by beta_rule (docs/design/windows.md). Throws
  // Error{invalid_plan} when width or sigma is out of range.
  Window(WindowKind kind, int width, double sigma);
  // Takes an explicit shape parameter. Throws Error{invalid_plan} when width, sigma or beta is out of range.
  Window(WindowKind kind, int width, double sigma, double beta);

  WindowKind kind() const noexcept { return kind_; }
  int width() const noexcept { return width_; }
  double sigma() const noexcept { return sigma_; }
  double beta() const noexcept { return beta_; }

  double value(double x) const;  // phi(x), x in [-1, 1]; 0 outside; absolute accuracy near 1e-15
  // The same for many x: out[i] = phi(x[i]), i < count. Several times faster per value than value().
  void evaluate(const double* x, long count, double* out) const;

  // Fourier transform in grid units: the integral over s (in cells) of phi(2 s / w) cos(xi s) ds, for |xi| <= pi. Uses
  // Gauss-Legendre quadrature; the absolute accuracy is near 1e-15 of fourier(0).
  double fourier(double xi) const;
  // The same for many frequencies xi_j = j * step, j = 0 .. count-1, 0 <= step * (count - 1) <= pi. With step = 2 pi /
  // fine the values are the inverses of the deconvolution factors of the modes |k| = j. Throws Error{invalid_argument}
  // when a frequency is out of range.
  std::vector<double> fourier_table(double step, long count) const;
  // The same for scattered frequencies (targets of type 3), each |xi[i]| <= limit <= pi; each takes a few ns. Throws
  // Error{invalid_argument} for a limit outside (0, pi]; an xi beyond the limit gives an unspecified value.
  void fourier_many(const double* xi, long count, double limit, double* out) const;

 private:
  WindowKind kind_;
  int width_;
  double sigma_, beta_;
  std::vector<double> series_;           // coefficients of P_0, P_2, P_4, ...: pswf and kaiser_bessel
  std::vector<double> nodes_, weights_;  // quadrature on [0, 1]; the weights include phi and the factor w
};

// The shape parameter of Window(kind, width, sigma), near the one that minimises aliasing_error
// (docs/design/windows.md). Throws like that constructor.
double beta_rule(WindowKind kind, int width, double sigma);

// Piecewise polynomial form of a window. Piece p (0 <= p < width) gives the weight of cell i0 + p at the position z in
// [-1, 1) defined above: weight_p(z) = sum over k of coefficient(k, p) z^(degree - k). k = 0 is the leading
// coefficient, as Horner's scheme needs.
struct PiecewisePolynomial {
  int width = 0;
  int degree = 0;
  std::vector<double> coefficients;  // (degree+1) x width, row k: power degree-k
  double error = 0;                  // largest error over check points in every piece, relative to the window's maximum
  double coefficient(int k, int piece) const {
    return coefficients[static_cast<std::size_t>(k) * static_cast<std::size_t>(width) +
                        static_cast<std::size_t>(piece)];
  }
  double operator()(int piece, double z) const;
};
inline constexpr int kMaxDegree = 31;
// Returns the polynomials of the least degree whose maximal error, relative to the window's maximum, is at most
// `accuracy` (values below 1e-15, the limit of double precision, count as 1e-15). If no degree up to kMaxDegree fits
// that well (exp_semicircle has a square root at its ends), the result has the least degree within 1.25 of the smallest
// error; its `error` says which error that is. Throws Error{invalid_argument} unless accuracy is positive.
PiecewisePolynomial fit(const Window& window, double accuracy);
// What spreading and interpolation should use by default: the least degree that makes the transform's error
// (aliasing_error with the polynomial's weights) at most 1 + excess times the error with the window itself. Throws
// Error{invalid_argument} unless excess is positive.
PiecewisePolynomial fit_within(const Window& window, double excess = 0.05);

// Returns the least width whose predicted_error is at most tol, or 0 if no width up to kMaxWidth is enough. A tol below
// 10 eps of double counts as 10 eps. `stages` is 1 for types 1 and 2, and 2 for type 3 (two windows share the
// tolerance). docs/design/windows.md has the derivation and a table. Throws Error{invalid_argument} for a bad tol, dim
// or stages, and Error{invalid_plan} for a bad sigma.
int width_for(WindowKind kind, double tol, double sigma, int dim, int stages = 1);
// The predicted relative l2 error for this window, width and oversampling factor in exact arithmetic, for random points
// and strengths (width_for inverts this).
double predicted_error(WindowKind kind, int width, double sigma, int dim, int stages = 1);

// Factor by which deconvolution magnifies rounding errors in one dimension: sqrt(integral of phi^2 times mean of 1/F^2
// over |xi| <= pi/sigma). The rounding error of a transform is about eps times this factor to the power of dim. Wide
// windows at small oversampling factors lose digits this way (pswf, w=11: 17 at sigma 1.25, 3.0 at 1.5, 1.0 at 2).
double rounding_magnification(const Window& window);
// The same where |xi| = pi/sigma, where it is largest: what a few targets or sources of a type 3 may all meet.
double edge_magnification(const Window& window);
// predicted_error for a window with any shape parameter.
double aliasing_error(const Window& window, int dim, int stages = 1);
// The same when the weights come from a piecewise polynomial (deconvolution still uses the window itself).
double aliasing_error(const Window& window, const PiecewisePolynomial& polynomial, int dim, int stages = 1);

}  // namespace fourtune::generator
