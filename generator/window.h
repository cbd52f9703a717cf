// Window functions: the maths that every spreader and interpolator shares, CPU and GPU.
//
// Conventions. A window of width w covers w neighbouring fine-grid cells. phi(x) is defined for x in [-1, 1], where x = 1
// is w/2 cells from the point; phi is even, 1 at 0, and 0 outside. A point at fine-grid position u (in cells) touches the
// cells i0 .. i0+w-1, i0 = ceil(u - w/2), with weights phi(2 (i - u) / w).
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

// A window with its shape bound. Immutable, usable from any thread.
class Window {
 public:
  // Shape parameter chosen for width and oversampling (docs/windows.md shows the rule).
  // Throws Error{invalid_plan} when width or sigma is out of range (1 < sigma <= 4).
  Window(WindowKind kind, int width, double sigma);
  // Explicit shape parameter.
  Window(WindowKind kind, int width, double sigma, double beta);

  WindowKind kind() const noexcept { return kind_; }
  int width() const noexcept { return width_; }
  double sigma() const noexcept { return sigma_; }
  double beta() const noexcept { return beta_; }

  double value(double x) const;  // phi(x), x in [-1, 1]; 0 outside
  // Fourier transform in grid units: integral over s in cells of phi(2 s / w) cos(xi s) ds, |xi| <= pi.
  // Gauss-Legendre quadrature, relative accuracy near 1e-15 of fourier(0).
  double fourier(double xi) const;
  // The same for many frequencies xi_j = j * step, j = 0 .. count-1 (vectorised recurrences; for deconvolution factors).
  std::vector<double> fourier_table(double step, long count) const;

 private:
  WindowKind kind_;
  int width_;
  double sigma_, beta_;
  std::vector<double> pswf_coefficients_;  // Legendre expansion, pswf only
  std::vector<double> nodes_, weights_;    // quadrature on [0, 1] with phi folded into the weights
};

// Piecewise polynomial form: piece p (0 <= p < width) gives the weight of cell i0 + p. With z in [-1, 1) the position of
// the point inside the cell (z = 2 (i0 - u) + w - 1 ... , see docs/windows.md): weight_p(z) = sum_k c[k][p] z^k.
// Coefficients are stored highest degree first: coefficient(k, p), k = 0 is the leading one, as Horner wants them.
struct PiecewisePolynomial {
  int width = 0;
  int degree = 0;
  std::vector<double> coefficients;  // (degree+1) x width, row k: power degree-k
  double operator()(int piece, double z) const;
};
// Least degree whose maximal error, relative to the window's maximum, is below `accuracy`.
PiecewisePolynomial fit(const Window& window, double accuracy);

// Least width whose aliasing error meets tol for this window and oversampling in `dim` dimensions, or 0 if none up to
// kMaxWidth does. The rule or table and its derivation are in docs/windows.md. `stages` is 1 for types 1 and 2, 2 for
// type 3 (two windows share the tolerance).
int width_for(WindowKind kind, double tol, double sigma, int dim, int stages = 1);
// The relative l2 error that window, width and oversampling are predicted to give (the inverse of width_for).
double predicted_error(WindowKind kind, int width, double sigma, int dim);

}  // namespace fourtune::generator
