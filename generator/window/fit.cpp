// Piecewise polynomials of a window: a Chebyshev series on every piece, truncated at the smallest degree that is
// accurate enough and rewritten in powers of z.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "fourtune/status.h"
#include "generator/window/polynomial.h"
#include "generator/window/window.h"

namespace fourtune::generator {
namespace {

using std::numbers::pi;

constexpr int kTerms = kMaxDegree + 1;
constexpr int kChecks = 48;  // points per piece where the error is measured, including both ends

using Row = std::array<double, kTerms>;

// x at the position z in a piece (window.h).
double window_coordinate(int piece, double z, int width) { return 2 * (piece + (z + 1) / 2) / width - 1; }

// Chebyshev coefficients of the interpolant through kTerms Chebyshev nodes, for the first half of the pieces; the other
// pieces are mirror images.
std::vector<Row> chebyshev_series(const Window& window) {
  const int pieces = (window.width() + 1) / 2;
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

// Largest error over the check points when the series is truncated after degree 0, 1, .. kMaxDegree. Subtracts the
// Chebyshev terms one after the other from the window's values at the check points.
std::array<double, kTerms> errors_by_degree(const Window& window, const std::vector<Row>& series) {
  const std::size_t pieces = series.size();
  std::array<double, kChecks> z, previous{}, current{};
  for (std::size_t i = 0; i < kChecks; ++i) z[i] = -std::cos(pi * static_cast<double>(i) / (kChecks - 1));
  std::vector<double> x, left(pieces * kChecks);
  for (int piece = 0; piece < static_cast<int>(pieces); ++piece)
    for (const double at : z) x.push_back(std::clamp(window_coordinate(piece, at, window.width()), -1.0, 1.0));
  window.evaluate(x.data(), static_cast<long>(x.size()), left.data());

  std::array<double, kTerms> errors{};
  for (std::size_t degree = 0; degree < kTerms; ++degree) {
    for (std::size_t i = 0; i < kChecks; ++i) {
      const double next = degree == 0 ? 1 : degree == 1 ? z[i] : 2 * z[i] * current[i] - previous[i];
      previous[i] = current[i];
      current[i] = next;
    }
    for (std::size_t piece = 0; piece < pieces; ++piece) {
      for (std::size_t i = 0; i < kChecks; ++i) {
        left[piece * kChecks + i] -= series[piece][degree] * current[i];
        errors[degree] = std::max(errors[degree], std::abs(left[piece * kChecks + i]));
      }
    }
  }
  return errors;
}

// A window with a square root at its ends may never reach the accuracy. Then the degree is the smallest whose error is
// within a quarter of the smallest error.
int least_degree(const std::array<double, kTerms>& errors, double accuracy) {
  const double reachable = 1.25 * *std::min_element(errors.begin(), errors.end());
  const double target = std::max({accuracy, reachable > 1e-15 ? reachable : 0, 1e-15});
  const auto found = std::find_if(errors.begin(), errors.end(), [&](double error) { return error <= target; });
  return static_cast<int>(found - errors.begin());
}

// Converts the series, truncated after `degree`, to powers of z, lowest first. Uses long double because the
// coefficients of T_k in powers of z grow like 2.4^k and cancel again.
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

PiecewisePolynomial assemble(const Window& window, const std::vector<Row>& series,
                             const std::array<double, kTerms>& errors, int degree) {
  const int width = window.width();
  PiecewisePolynomial result;
  result.width = width;
  result.degree = degree;
  result.error = errors[static_cast<std::size_t>(degree)];
  result.coefficients.resize(static_cast<std::size_t>(degree + 1) * static_cast<std::size_t>(width));
  for (int piece = 0; piece < static_cast<int>(series.size()); ++piece) {
    const std::vector<long double> powers = to_monomials(series[static_cast<std::size_t>(piece)], degree);
    for (int power = 0; power <= degree; ++power) {
      const auto row = static_cast<std::size_t>(degree - power) * static_cast<std::size_t>(width);
      const auto c = static_cast<double>(powers[static_cast<std::size_t>(power)]);
      // The middle piece of an odd width is its own mirror image, so its odd powers can only be rounding errors.
      const bool middle = 2 * piece + 1 == width;
      result.coefficients[row + static_cast<std::size_t>(piece)] = middle && power % 2 ? 0 : c;
      if (!middle) result.coefficients[row + static_cast<std::size_t>(width - 1 - piece)] = power % 2 ? -c : c;
    }
  }
  return result;
}

PiecewisePolynomial within(const Window& window, const std::vector<Row>& series,
                           const std::array<double, kTerms>& errors, double excess) {
  // Below 2e-15 both errors are mostly rounding.
  const double allowed = (1 + excess) * std::max(aliasing_error(window, 1), 2e-15);
  const auto meets = [&](const PiecewisePolynomial& p) { return aliasing_error(window, p, 1) <= allowed; };

  PiecewisePolynomial result = assemble(window, series, errors, least_degree(errors, allowed));
  while (!meets(result) && result.degree < kMaxDegree) result = assemble(window, series, errors, result.degree + 1);
  while (result.degree > 0) {
    PiecewisePolynomial lower = assemble(window, series, errors, result.degree - 1);
    if (!meets(lower)) break;
    result = std::move(lower);
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
  const std::vector<Row> series = chebyshev_series(window);
  const std::array<double, kTerms> errors = errors_by_degree(window, series);
  return assemble(window, series, errors, least_degree(errors, accuracy));
}

PiecewisePolynomial fit_within(const Window& window, double excess) {
  if (!(excess > 0))
    throw Error(Status::invalid_argument, fmt::format("window fit with excess {}: it must be positive", excess));
  const std::vector<Row> series = chebyshev_series(window);
  return within(window, series, errors_by_degree(window, series), excess);
}

PiecewisePolynomial kernel_polynomial(const Window& window, double epsilon) {
  if (!(epsilon > 0))
    throw Error(Status::invalid_argument, fmt::format("window fit to precision {}: it must be positive", epsilon));
  constexpr double kExcess = 0.05, kOfEpsilon = 0.25;
  const std::vector<Row> series = chebyshev_series(window);
  const std::array<double, kTerms> errors = errors_by_degree(window, series);
  const int exact = least_degree(errors, kOfEpsilon * epsilon);
  PiecewisePolynomial result = within(window, series, errors, kExcess);
  return result.degree <= exact ? result : assemble(window, series, errors, exact);
}

}  // namespace fourtune::generator
