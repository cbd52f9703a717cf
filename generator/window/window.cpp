// The table of windows, their values, and the quadrature for their Fourier transforms.
#include "generator/window/window.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numbers>

#include "fourtune/status.h"
#include "generator/window/detail.h"
#include "generator/window/formula.h"

namespace fourtune::generator {
namespace {

using std::numbers::pi;

// The windows, in the order of WindowKind.
constexpr const WindowFormula* kWindows[] = {&exp_semicircle_formula, &kaiser_bessel_formula, &pswf_formula,
                                             &gaussian_formula};
static_assert(std::size(kWindows) == kWindowCount, "each WindowKind has a line");

void check(WindowKind kind, int width, double sigma) {
  if (width < kMinWidth || width > widest(kind))
    throw Error(Status::invalid_plan, fmt::format("window {} of width {}: the width must be {} to {}", to_string(kind),
                                                  width, kMinWidth, widest(kind)));
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

}  // namespace

const WindowFormula& formula_of(WindowKind kind) noexcept { return *kWindows[static_cast<std::size_t>(kind)]; }

const char* to_string(WindowKind kind) noexcept { return formula_of(kind).name; }
int widest(WindowKind kind) noexcept { return formula_of(kind).widest; }

double beta_rule(WindowKind kind, int width, double sigma) {
  check(kind, width, sigma);
  return formula_of(kind).shape(width, 1 / sigma);
}

Window::Window(WindowKind kind, int width, double sigma) : Window(kind, width, sigma, beta_rule(kind, width, sigma)) {}

Window::Window(WindowKind kind, int width, double sigma, double beta)
    : kind_(kind), width_(width), sigma_(sigma), beta_(checked_beta(kind, width, sigma, beta)) {
  const WindowFormula& formula = formula_of(kind);
  if (formula.series) series_ = formula.series(beta);
  detail::Quadrature rule = detail::half_gauss_legendre(formula.quadrature_size(width, beta));
  nodes_ = std::move(rule.nodes);
  weights_ = std::move(rule.weights);
  if (formula.in_the_angle) {
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
  formula_of(kind_).evaluate(beta_, series_, x, count, out);
  for (long i = 0; i < count; ++i)
    if (!(std::abs(x[i]) <= 1)) out[i] = 0;
}

}  // namespace fourtune::generator
