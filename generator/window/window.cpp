// The four windows: their values, and the quadrature for their Fourier transforms.
#include "generator/window/window.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "fourtune/status.h"
#include "generator/window/detail.h"

namespace fourtune::generator {
namespace {

using std::numbers::pi;

void check(WindowKind kind, int width, double sigma) {
  const int widest = kind == WindowKind::gaussian ? kMaxGaussianWidth : kMaxWidth;
  if (width < kMinWidth || width > widest)
    throw Error(Status::invalid_plan, fmt::format("window {} of width {}: the width must be {} to {}", to_string(kind),
                                                  width, kMinWidth, widest));
  if (!(sigma > 1 && sigma <= kMaxSigma))
    throw Error(Status::invalid_plan,
                fmt::format("window {} with sigma {}: oversampling must be above 1 and at most {}", to_string(kind),
                            sigma, kMaxSigma));
}

double checked_beta(WindowKind kind, int width, double sigma, double beta) {
  check(kind, width, sigma);
  if (!(beta > 0 && beta <= kMaxBeta))
    throw Error(Status::invalid_plan, fmt::format("window {} with beta {}: the shape must be above 0 and at most {}",
                                                  to_string(kind), beta, kMaxBeta));
  return beta;
}

// Number of nodes on the half interval that integrate phi(x) cos(xi w x / 2), |xi| <= pi, to rounding. The integrand's
// Chebyshev series ends a little above degree `cosine` plus the bandwidth of the window, and the rule of 2q points is
// exact to degree 4q - 1. The constants give the smallest sizes that reached 1e-15 for widths 2 to 65 and sigma 1.05 to
// 4, plus one.
int quadrature_size(WindowKind kind, int width, double beta) {
  const double cosine = pi * width / 2;
  switch (kind) {
    case WindowKind::exp_semicircle:  // in the angle asin(x), which stretches the middle of the interval
      return 14 + static_cast<int>(std::ceil(0.59 * cosine + 0.2 * beta));
    case WindowKind::kaiser_bessel:
    case WindowKind::pswf:
      return 7 + static_cast<int>(std::ceil((cosine + beta) / 4));
    case WindowKind::gaussian:  // its spectrum exp(-k^2 / (4 beta)) is below 1e-16 beyond 2 sqrt(37 beta)
      return 7 + static_cast<int>(std::ceil((cosine + 2 * std::sqrt(37 * beta)) / 4));
  }
  return 0;
}

}  // namespace

const char* to_string(WindowKind kind) noexcept {
  switch (kind) {
    case WindowKind::exp_semicircle:
      return "es";
    case WindowKind::kaiser_bessel:
      return "kb";
    case WindowKind::pswf:
      return "pswf";
    case WindowKind::gaussian:
      return "gaussian";
  }
  return "unknown";
}

// At `edge` the window's transform must have decayed: its bandwidth beta extends from 0 to the lowest frequency that
// aliases onto a mode, 2 pi - pi/sigma. The optimum is slightly smaller. The coefficients are least-squares fits to
// minima found in extended precision for widths 2 to 16 (28) and sigma 1.05 to 4 (docs/design/windows.md).
double beta_rule(WindowKind kind, int width, double sigma) {
  check(kind, width, sigma);
  const double w = width, t = 1 / sigma, edge = pi * w * (1 - t / 2);
  const auto quadratic = [t](double a, double b, double c) { return a + t * (b + t * c); };
  switch (kind) {
    case WindowKind::exp_semicircle:
      return edge - quadratic(1.922, -0.127, 1.705) / w - quadratic(0.087, -2.569, 3.236) / (w * w);
    case WindowKind::kaiser_bessel:
      return edge - quadratic(1.017, 0.482, 0.67) / w - quadratic(0.547, -5.66, 4.657) / (w * w);
    case WindowKind::pswf:
      return edge - quadratic(0.064, 0.97, -0.092) / w - quadratic(1.652, -7.571, 6.455) / (w * w);
    case WindowKind::gaussian:
      return edge / 2 - quadratic(1.013, -3.011, 2.483) - quadratic(-0.238, 1.438, -1.114) * std::log(w);
  }
  return edge;
}

Window::Window(WindowKind kind, int width, double sigma) : Window(kind, width, sigma, beta_rule(kind, width, sigma)) {}

Window::Window(WindowKind kind, int width, double sigma, double beta)
    : kind_(kind), width_(width), sigma_(sigma), beta_(checked_beta(kind, width, sigma, beta)) {
  if (kind == WindowKind::pswf) series_ = detail::pswf_series(beta);
  if (kind == WindowKind::kaiser_bessel) series_ = detail::kaiser_bessel_series(beta);
  detail::Quadrature rule = detail::half_gauss_legendre(quadrature_size(kind, width, beta));
  nodes_ = std::move(rule.nodes);
  weights_ = std::move(rule.weights);
  if (kind == WindowKind::exp_semicircle) {
    // x = sin(theta) removes the square root at the ends: the integrand is then an entire function of theta.
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const double theta = pi / 2 * nodes_[i];
      nodes_[i] = std::sin(theta);
      weights_[i] *= pi / 2 * std::cos(theta);
    }
  }
  std::vector<double> phi(nodes_.size());
  evaluate(nodes_.data(), static_cast<long>(nodes_.size()), phi.data());
  for (std::size_t i = 0; i < nodes_.size(); ++i) weights_[i] *= phi[i] * width;
}

double Window::value(double x) const {
  double phi;
  evaluate(&x, 1, &phi);
  return phi;
}

void Window::evaluate(const double* x, long count, double* out) const {
  switch (kind_) {
    case WindowKind::exp_semicircle:
      // Computes sqrt(1-x^2) - 1 without cancellation, because beta would magnify the lost digits.
      for (long i = 0; i < count; ++i)
        out[i] = std::exp(-beta_ * x[i] * x[i] / (1 + std::sqrt(std::max(0.0, (1 - x[i]) * (1 + x[i])))));
      break;
    case WindowKind::kaiser_bessel:
    case WindowKind::pswf:
      detail::even_legendre_series(series_, x, count, out);
      break;
    case WindowKind::gaussian:
      for (long i = 0; i < count; ++i) out[i] = std::exp(-beta_ * x[i] * x[i]);
      break;
  }
  for (long i = 0; i < count; ++i)
    if (!(std::abs(x[i]) <= 1)) out[i] = 0;
}

}  // namespace fourtune::generator
