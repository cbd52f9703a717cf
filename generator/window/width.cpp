// The error that a window causes, and the width that meets a tolerance.
//
// Spreading with the window, transforming the fine grid and dividing by the window's transform F gives a point at
// offset d the contribution exp(-i k x) (1 + h) to the mode xi = 2 pi k / fine, with
//   1 + h(xi, d) = sum_p phi(x_p) exp(i xi s_p) / F(xi) = sum over m of F(xi + 2 pi m) / F(xi) exp(2 pi i m d)
// (Poisson), s_p = p + d - w/2. For random strengths and points, the squared relative l2 error E is the mean of |h|^2
// over the modes and the offsets. Dimensions combine as a product: 1 + E = product of (1 + E_d). docs/design/windows.md
// has the derivation.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "fourtune/status.h"
#include "generator/window/detail.h"
#include "generator/window/formula.h"
#include "generator/window/table.h"
#include "generator/window/window.h"

namespace fourtune::generator {
namespace {

using std::numbers::pi;

constexpr int kFrequencies = 16;  // quadrature nodes over the modes, xi in [0, pi/sigma]
constexpr int kOffsets = 6;       // quadrature nodes over the offset d in [0, 1/2] (|h| is even about 1/2)

// weights(d) returns, for every offset in d, its `width` weights.
template <class Weights>
double mean_square_error(const Window& window, const Weights& weights) {
  const int width = window.width();
  const auto taps = static_cast<std::size_t>(width);
  const detail::Quadrature unit = detail::gauss_legendre(kFrequencies, 1);
  const detail::Quadrature offsets = detail::gauss_legendre(kOffsets, 0.5);
  const std::vector<double> phi = weights(offsets.nodes);

  double mean = 0;
  std::vector<double> cosine(taps), sine(taps);
  for (std::size_t i = 0; i < kFrequencies; ++i) {
    // The error is concentrated at the highest modes, so xi = (1 - t^2) pi / sigma puts more nodes there.
    const double t = unit.nodes[i], xi = (1 - t * t) * pi / window.sigma(), weight = 2 * t * unit.weights[i];
    const double transform = window.fourier(xi);
    for (std::size_t p = 0; p < taps; ++p) {
      const double angle = xi * (static_cast<double>(p) - width / 2.0);
      cosine[p] = std::cos(angle);
      sine[p] = std::sin(angle);
    }
    for (std::size_t j = 0; j < kOffsets; ++j) {
      // F h exp(-i xi d)
      double real = -transform * std::cos(xi * offsets.nodes[j]),
             imaginary = transform * std::sin(xi * offsets.nodes[j]);
      for (std::size_t p = 0; p < taps; ++p) {
        real += phi[j * taps + p] * cosine[p];
        imaginary += phi[j * taps + p] * sine[p];
      }
      mean += weight * 2 * offsets.weights[j] * (real * real + imaginary * imaginary) / (transform * transform);
    }
  }
  return mean;
}

// The weights of the window itself, or those of its polynomials: row j holds the `width` weights at offset d[j].
std::vector<double> window_weights(const Window& window, const std::vector<double>& d) {
  std::vector<double> x;
  for (const double offset : d)
    for (int p = 0; p < window.width(); ++p) x.push_back(2 * (p + offset) / window.width() - 1);
  std::vector<double> phi(x.size());
  window.evaluate(x.data(), static_cast<long>(x.size()), phi.data());
  return phi;
}

std::vector<double> polynomial_weights(const PiecewisePolynomial& polynomial, const std::vector<double>& d) {
  std::vector<double> phi;
  for (const double offset : d)
    for (int p = 0; p < polynomial.width; ++p) phi.push_back(polynomial(p, 2 * offset - 1));
  return phi;
}

std::vector<double> table_weights(const Window& window, int entries, const std::vector<double>& d) {
  std::vector<double> phi;
  for (const double offset : d)
    for (int p = 0; p < window.width(); ++p) {
      const double cell = std::floor(offset * entries), along = offset * entries - cell;
      const auto entry = [&](double e) { return window.value(2 * (p + e / entries) / window.width() - 1); };
      phi.push_back((1 - along) * entry(cell) + along * entry(cell + 1));
    }
  return phi;
}

// The squared errors of dimensions and stages are independent, so 1 + E is a product.
double combine(double mean_square, int dim, int stages) {
  return std::sqrt(std::expm1(dim * stages * std::log1p(mean_square)));
}

void check(int dim, int stages) {
  if (dim < 1 || dim > 3)
    throw Error(Status::invalid_argument, fmt::format("window error in {} dimensions: 1, 2 and 3 are possible", dim));
  if (stages < 1 || stages > 2)
    throw Error(Status::invalid_argument,
                fmt::format("window error of {} stages: 1 (types 1 and 2) and 2 (type 3) are possible", stages));
}

}  // namespace

double aliasing_error(const Window& window, int dim, int stages) {
  check(dim, stages);
  const auto weights = [&](const std::vector<double>& d) { return window_weights(window, d); };
  return combine(mean_square_error(window, weights), dim, stages);
}

double aliasing_error(const Window& window, const PiecewisePolynomial& polynomial, int dim, int stages) {
  check(dim, stages);
  const auto weights = [&](const std::vector<double>& d) { return polynomial_weights(polynomial, d); };
  return combine(mean_square_error(window, weights), dim, stages);
}

double aliasing_error_of_table(const Window& window, int entries, int dim, int stages) {
  check(dim, stages);
  if (entries < 1)
    throw Error(Status::invalid_argument, fmt::format("a table of {} entries a cell: at least 1 is needed", entries));
  const auto weights = [&](const std::vector<double>& d) { return table_weights(window, entries, d); };
  return combine(mean_square_error(window, weights), dim, stages);
}

double predicted_error(WindowKind kind, int width, double sigma, int dim, int stages) {
  return aliasing_error(Window(kind, width, sigma), dim, stages);
}

int width_for(WindowKind kind, double tol, double sigma, int dim, int stages) {
  check(dim, stages);
  if (!(tol > 0)) throw Error(Status::invalid_argument, fmt::format("tolerance {}: it must be positive", tol));
  const double target = std::max(tol, 10 * 0x1p-52);
  beta_rule(kind, kMinWidth, sigma);  // throws if sigma is out of range
  const auto meets = [&](int width) { return predicted_error(kind, width, sigma, dim, stages) <= target; };
  // Starts near the answer.
  const double taps = -std::log(target) / (pi * std::sqrt(1 - 1 / sigma));
  const double guess = formula_of(kind).first_width(taps);
  int width = static_cast<int>(std::clamp(std::ceil(guess), double{kMinWidth}, double{kMaxWidth}));
  while (width > kMinWidth && meets(width - 1)) --width;
  for (; width <= kMaxWidth; ++width)
    if (meets(width)) return width;
  return 0;
}

namespace {

constexpr std::size_t kMagnificationNodes = 16;

// Of the squares of a point's weights.
double energy_of(const Window& window) {
  double energy = 0;
  const detail::Quadrature half = detail::gauss_legendre(kMagnificationNodes, 1);  // x in [0, 1], phi is even
  for (std::size_t i = 0; i < kMagnificationNodes; ++i) {
    const double value = window.value(half.nodes[i]);
    energy += half.weights[i] * window.width() * value * value;
  }
  return energy;
}

}  // namespace

double rounding_magnification(const Window& window) {
  double inverse_square = 0;
  const detail::Quadrature modes = detail::gauss_legendre(kMagnificationNodes, pi / window.sigma());
  for (std::size_t i = 0; i < kMagnificationNodes; ++i) {
    const double transform = window.fourier(modes.nodes[i]);
    inverse_square += modes.weights[i] * window.sigma() / pi / (transform * transform);
  }
  return std::sqrt(energy_of(window) * inverse_square);
}

double edge_magnification(const Window& window) {
  return std::sqrt(energy_of(window)) / std::abs(window.fourier(pi / window.sigma()));
}

}  // namespace fourtune::generator
