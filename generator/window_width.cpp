// The error that a window causes, and the width that meets a tolerance.
//
// Spreading strengths with the window, transforming the fine grid and dividing by the window's transform F gives mode
// xi = 2 pi k / fine of each point at offset d the value exp(-i k x) (1 + h), with
//   1 + h(xi, d) = sum_p phi(x_p) exp(i xi s_p) / F(xi) = sum over m of F(xi + 2 pi m) / F(xi) exp(2 pi i m d)
// (Poisson), s_p = p + d - w/2. For strengths and points at random the squared relative l2 error is the mean of |h|^2
// over the modes and the offsets; dimensions multiply: 1 + E = product of (1 + E_d). docs/windows.md has the
// derivation.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "fourtune/status.h"
#include "generator/window.h"
#include "generator/window_detail.h"

namespace fourtune::generator {
namespace {

using std::numbers::pi;

constexpr int kFrequencies = 14;  // quadrature nodes over the modes, xi in [0, pi/sigma]
constexpr int kOffsets = 6;       // and over the offset d in [0, 1/2] (|h| is even about 1/2)

struct Errors {
  double aliasing = 0;       // mean |h|^2 in one dimension
  double amplification = 0;  // of an inner stage's squared error by the outer deconvolution of type 3
};

Errors measure(const Window& window) {
  const int width = window.width();
  const detail::Quadrature frequencies = detail::gauss_legendre(kFrequencies, pi / window.sigma());
  const detail::Quadrature offsets = detail::gauss_legendre(kOffsets, 0.5);
  std::vector<double> x, phi(static_cast<std::size_t>(kOffsets * width));
  for (const double d : offsets.nodes)
    for (int p = 0; p < width; ++p) x.push_back(2 * (p + d) / width - 1);
  window.evaluate(x.data(), static_cast<long>(x.size()), phi.data());

  Errors errors;
  double inverse_square = 0;
  for (std::size_t i = 0; i < kFrequencies; ++i) {
    const double xi = frequencies.nodes[i], weight = frequencies.weights[i] * window.sigma() / pi;
    const double transform = window.fourier(xi);
    inverse_square += weight / (transform * transform);
    for (std::size_t j = 0; j < kOffsets; ++j) {
      double real = -transform, imaginary = 0;
      for (int p = 0; p < width; ++p) {
        const double angle = xi * (p + offsets.nodes[j] - width / 2.0);
        const double value = phi[j * static_cast<std::size_t>(width) + static_cast<std::size_t>(p)];
        real += value * std::cos(angle);
        imaginary += value * std::sin(angle);
      }
      const double h2 = (real * real + imaginary * imaginary) / (transform * transform);
      errors.aliasing += weight * 2 * offsets.weights[j] * h2;
    }
  }
  double energy = 0;  // integral of phi^2 in cells = mean over all frequencies of F^2
  for (std::size_t j = 0; j < kOffsets; ++j)
    for (int p = 0; p < width; ++p) {
      const double value = phi[j * static_cast<std::size_t>(width) + static_cast<std::size_t>(p)];
      energy += 2 * offsets.weights[j] * value * value;
    }
  errors.amplification = energy * inverse_square;
  return errors;
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
  const Errors errors = measure(window);
  const double square = std::expm1(dim * std::log1p(errors.aliasing));
  return std::sqrt(stages == 1 ? square : square * (1 + std::pow(errors.amplification, dim)));
}

double predicted_error(WindowKind kind, int width, double sigma, int dim, int stages) {
  return aliasing_error(Window(kind, width, sigma), dim, stages);
}

int width_for(WindowKind kind, double tol, double sigma, int dim, int stages) {
  check(dim, stages);
  if (!(tol > 0)) throw Error(Status::invalid_argument, fmt::format("tolerance {}: it must be positive", tol));
  const double target = std::max(tol, 10 * 0x1p-52);
  const double rate = (kind == WindowKind::gaussian ? pi / 2 : pi) * std::sqrt(1 - 1 / sigma);
  const Window sigma_is_checked(kind, kMinWidth, sigma);
  int width =
      static_cast<int>(std::clamp(std::ceil(1 - std::log(target) / rate), double{kMinWidth}, double{kMaxWidth}));
  if (predicted_error(kind, width, sigma, dim, stages) <= target) {
    while (width > kMinWidth && predicted_error(kind, width - 1, sigma, dim, stages) <= target) --width;
    return width;
  }
  while (++width <= kMaxWidth)
    if (predicted_error(kind, width, sigma, dim, stages) <= target) return width;
  return 0;
}

}  // namespace fourtune::generator
