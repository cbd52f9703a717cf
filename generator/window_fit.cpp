// Piecewise polynomials of a window: Chebyshev series on every piece, cut at the least degree that is accurate enough,
// rewritten in powers of z.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "fourtune/status.h"
#include "generator/window.h"

namespace fourtune::generator {
namespace {

using std::numbers::pi;

constexpr int kTerms = kMaxDegree + 1;
constexpr int kChecks = 48;  // points where the error of a piece is measured, both ends included

using Row = std::array<double, kTerms>;

// x of the piece's position z (window.h).
double window_coordinate(int piece, double z, int width) { return 2 * (piece + (z + 1) / 2) / width - 1; }

// Chebyshev coefficients of the interpolant through kTerms Chebyshev nodes, for pieces 0 .. pieces-1.
std::vector<Row> chebyshev_series(const Window& window, int pieces) {
  std::array<double, 4 * kTerms> cosine;  // cos(pi i / (2 kTerms)), one period
  for (std::size_t i = 0; i < cosine.size(); ++i) cosine[i] = std::cos(pi * static_cast<double>(i) / (2 * kTerms));
  std::vector<double> x, phi(static_cast<std::size_t>(pieces) * kTerms);
  for (int piece = 0; piece < pieces; ++piece)
    for (std::size_t j = 0; j < kTerms; ++j) x.push_back(window_coordinate(piece, cosine[2 * j + 1], window.width()));
  window.evaluate(x.data(), static_cast<long>(x.size()), phi.data());
  std::vector<Row> series(static_cast<std::size_t>(pieces));
  for (std::size_t piece = 0; piece < series.size(); ++piece) {
    for (std::size_t k = 0; k < kTerms; ++k) {
      double sum = 0;
      for (std::size_t j = 0; j < kTerms; ++j) sum += phi[piece * kTerms + j] * cosine[k * (2 * j + 1) % cosine.size()];
      series[piece][k] = sum * (k == 0 ? 1.0 : 2.0) / kTerms;
    }
  }
  return series;
}

struct Choice {
  int degree;
  double error;
};

// Subtracts one Chebyshev term after the other from the window's values at the check points until what is left is
// small.
Choice least_degree(const Window& window, const std::vector<Row>& series, double accuracy) {
  const std::size_t pieces = series.size();
  std::array<double, kChecks> z, previous, current;
  for (std::size_t i = 0; i < kChecks; ++i) z[i] = -std::cos(pi * static_cast<double>(i) / (kChecks - 1));
  std::vector<double> x, left(pieces * kChecks);
  for (std::size_t piece = 0; piece < pieces; ++piece)
    for (const double at : z)
      x.push_back(std::clamp(window_coordinate(static_cast<int>(piece), at, window.width()), -1.0, 1.0));
  window.evaluate(x.data(), static_cast<long>(x.size()), left.data());

  Choice best{kMaxDegree, 1e300};
  for (int degree = 0; degree <= kMaxDegree; ++degree) {
    for (std::size_t i = 0; i < kChecks; ++i) {
      const double next = degree == 0 ? 1 : degree == 1 ? z[i] : 2 * z[i] * current[i] - previous[i];
      previous[i] = degree == 0 ? 0 : current[i];
      current[i] = next;
    }
    double error = 0;
    for (std::size_t piece = 0; piece < pieces; ++piece) {
      const double coefficient = series[piece][static_cast<std::size_t>(degree)];
      for (std::size_t i = 0; i < kChecks; ++i) {
        left[piece * kChecks + i] -= coefficient * current[i];
        error = std::max(error, std::abs(left[piece * kChecks + i]));
      }
    }
    if (error < best.error) best = {degree, error};
    if (error <= accuracy) break;
  }
  return best;
}

// Powers of z, lowest first, of the series cut after `degree`. In long double: the powers' coefficients of T_k grow
// like 2.4^k and cancel again.
std::vector<long double> to_monomials(const Row& series, int degree) {
  const auto terms = static_cast<std::size_t>(degree) + 1;
  std::vector<long double> result(terms, 0), previous(terms, 0), current(terms, 0), next(terms);
  current[0] = 1;
  for (std::size_t k = 0; k < terms; ++k) {
    for (std::size_t i = 0; i < terms; ++i) result[i] += series[k] * current[i];
    for (std::size_t i = 0; i < terms; ++i) next[i] = (i > 0 ? (k == 0 ? 1 : 2) * current[i - 1] : 0.0L) - previous[i];
    previous.swap(current);
    current.swap(next);
  }
  return result;
}

}  // namespace

double PiecewisePolynomial::operator()(int piece, double z) const {
  double sum = coefficient(0, piece);
  for (int k = 1; k <= degree; ++k) sum = sum * z + coefficient(k, piece);
  return sum;
}

PiecewisePolynomial fit(const Window& window, double accuracy) {
  if (!(accuracy > 0))
    throw Error(Status::invalid_argument, fmt::format("window fit to accuracy {}: it must be positive", accuracy));
  const int width = window.width(), pieces = (width + 1) / 2;  // the others are mirror images
  const std::vector<Row> series = chebyshev_series(window, pieces);
  const Choice choice = least_degree(window, series, std::max(accuracy, 1e-15));

  PiecewisePolynomial result;
  result.width = width;
  result.degree = choice.degree;
  result.error = choice.error;
  result.coefficients.resize(static_cast<std::size_t>(choice.degree + 1) * static_cast<std::size_t>(width));
  for (int piece = 0; piece < pieces; ++piece) {
    const std::vector<long double> powers = to_monomials(series[static_cast<std::size_t>(piece)], choice.degree);
    for (int power = 0; power <= choice.degree; ++power) {
      const auto row = static_cast<std::size_t>(choice.degree - power) * static_cast<std::size_t>(width);
      const auto c = static_cast<double>(powers[static_cast<std::size_t>(power)]);
      result.coefficients[row + static_cast<std::size_t>(width - 1 - piece)] = power % 2 ? -c : c;
      result.coefficients[row + static_cast<std::size_t>(piece)] = c;
    }
  }
  return result;
}

}  // namespace fourtune::generator
