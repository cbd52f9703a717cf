// The four windows: values, and the quadrature behind their Fourier transforms.
#include "generator/window.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "fourtune/status.h"
#include "generator/window_detail.h"

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

// Nodes on the half interval that integrate phi(x) cos(xi w x / 2), xi <= pi, to rounding. The integrand's Chebyshev
// series ends a little above degree `band`, the sum of the window's own bandwidth and the cosine's; the rule of 2q
// points is exact to degree 4q - 1. Constants by measurement (test FourierTransformMatchesQuadrature).
int quadrature_size(WindowKind kind, int width, double beta) {
  double band = pi * width / 2;
  switch (kind) {
    case WindowKind::exp_semicircle:
      band += 1.8 * beta;
      break;  // in the angle asin(x), which is stretched by pi/2
    case WindowKind::kaiser_bessel:
    case WindowKind::pswf:
      band += beta;
      break;
    case WindowKind::gaussian:
      band += 2 * std::sqrt(37 * beta);
      break;  // where exp(-k^2 / (4 beta)) is below 1e-16
  }
  return 8 + static_cast<int>(std::ceil(band / 4));
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

// Leading behaviour: the window's transform must be small from 2 pi - pi/sigma on, which is beta = pi w (1 - 1/(2
// sigma)) for the three windows with bandwidth beta.
double beta_rule(WindowKind kind, int width, double sigma) {
  check(kind, width, sigma);
  const double edge = pi * width * (1 - 0.5 / sigma);
  switch (kind) {
    case WindowKind::exp_semicircle:
      return 0.97 * edge;
    case WindowKind::kaiser_bessel:
      return 0.98 * edge;
    case WindowKind::pswf:
      return 0.98 * edge;
    case WindowKind::gaussian:
      return pi * width / 2 * std::sqrt(1 - 1 / sigma);
  }
  return edge;
}

Window::Window(WindowKind kind, int width, double sigma) : Window(kind, width, sigma, beta_rule(kind, width, sigma)) {}

Window::Window(WindowKind kind, int width, double sigma, double beta)
    : kind_(kind), width_(width), sigma_(sigma), beta_(checked_beta(kind, width, sigma, beta)) {
  if (kind == WindowKind::pswf) pswf_coefficients_ = detail::pswf_coefficients(beta);
  detail::Quadrature rule = detail::half_gauss_legendre(quadrature_size(kind, width, beta));
  nodes_ = std::move(rule.nodes);
  weights_ = std::move(rule.weights);
  if (kind == WindowKind::exp_semicircle) {
    // x = sin(theta) removes the square root at the ends: the integrand is entire in theta.
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
      for (long i = 0; i < count; ++i)
        out[i] = std::exp(beta_ * (std::sqrt(std::max(0.0, (1 - x[i]) * (1 + x[i]))) - 1));
      break;
    case WindowKind::kaiser_bessel: {
      const double scale = 1 / detail::bessel_i0(beta_);
      for (long i = 0; i < count; ++i)
        out[i] = scale * detail::bessel_i0(beta_ * std::sqrt(std::max(0.0, (1 - x[i]) * (1 + x[i]))));
      break;
    }
    case WindowKind::pswf:
      detail::even_legendre_series(pswf_coefficients_, x, count, out);
      break;
    case WindowKind::gaussian:
      for (long i = 0; i < count; ++i) out[i] = std::exp(-beta_ * x[i] * x[i]);
      break;
  }
  for (long i = 0; i < count; ++i)
    if (!(std::abs(x[i]) <= 1)) out[i] = 0;
}

}  // namespace fourtune::generator
