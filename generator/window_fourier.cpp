// Fourier transforms of windows: one frequency by quadrature, many by local Chebyshev interpolation of that.
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

constexpr int kTerms = 12;      // polynomial coefficients in each interval
constexpr double kPhase = 0.5;  // at most this half-length of an interval in units of 2 / w, the transform's own scale

// The transform on [0, limit] as polynomials of degree kTerms - 1 on equal intervals. It is band-limited (its own
// spectrum is phi, supported on |s| <= w/2), so with a phase of 1/2 the interpolation error is 0.5^12 / (12! 2^11) =
// 2.5e-16 / 1000 of its maximum: far below rounding.
class LocalPolynomials {
 public:
  LocalPolynomials(const Window& window, double limit) {
    intervals_ = std::max(1L, std::lround(std::ceil(limit * window.width() / (4 * kPhase))));
    per_interval_ = static_cast<double>(intervals_) / limit;
    coefficients_.resize(static_cast<std::size_t>(intervals_));
    std::array<double, kTerms> samples;
    std::array<double, 4 * kTerms> cosine;  // cos(pi i / (2 kTerms)), one period
    for (std::size_t i = 0; i < cosine.size(); ++i) cosine[i] = std::cos(pi * static_cast<double>(i) / (2 * kTerms));
    for (long interval = 0; interval < intervals_; ++interval) {
      for (std::size_t j = 0; j < kTerms; ++j)
        samples[j] = window.fourier((static_cast<double>(interval) + (cosine[2 * j + 1] + 1) / 2) / per_interval_);
      coefficients_[static_cast<std::size_t>(interval)] = to_monomials(samples, cosine);
    }
  }

  // out[j] = transform at step * j, j < count: interval by interval, so that the inner loop is free of look-ups.
  void table(double step, long count, double* out) const {
    const double slope = 2 * step * per_interval_;
    for (long interval = 0, j = 0; interval < intervals_ && j < count; ++interval) {
      const auto bound = static_cast<long>(std::ceil(static_cast<double>(interval + 1) / (step * per_interval_)));
      const long end = interval + 1 == intervals_ ? count : std::min(count, bound);
      const std::array<double, kTerms> c = coefficients_[static_cast<std::size_t>(interval)];
      const double origin = -2 * static_cast<double>(interval) - 1;
      for (; j < end; ++j) {
        const double z = slope * static_cast<double>(j) + origin;
        double sum = c[kTerms - 1];
        for (std::size_t k = kTerms - 1; k-- > 0;) sum = sum * z + c[k];
        out[j] = sum;
      }
    }
  }

  double operator()(double xi) const {
    const double position = std::abs(xi) * per_interval_;
    const long last = intervals_ - 1;  // takes what is beyond the limit by rounding
    const long interval = position < static_cast<double>(last) ? static_cast<long>(position) : last;
    const double z = 2 * (position - static_cast<double>(interval)) - 1;
    const std::array<double, kTerms>& c = coefficients_[static_cast<std::size_t>(interval)];
    double sum = c[kTerms - 1];
    for (int k = kTerms - 2; k >= 0; --k) sum = sum * z + c[static_cast<std::size_t>(k)];
    return sum;
  }

  static long samples_for(const Window& window, double limit) {
    return kTerms * std::max(1L, std::lround(std::ceil(limit * window.width() / (4 * kPhase))));
  }

 private:
  // Interpolant through samples at the Chebyshev nodes, as powers of z: lowest first.
  static std::array<double, kTerms> to_monomials(const std::array<double, kTerms>& samples,
                                                 const std::array<double, 4 * kTerms>& cosine) {
    std::array<double, kTerms> result{};
    std::array<double, kTerms> previous{}, current{};  // T_k-1 and T_k as powers of z
    current[0] = 1;
    for (std::size_t k = 0; k < kTerms; ++k) {
      double coefficient = 0;
      for (std::size_t j = 0; j < kTerms; ++j) coefficient += samples[j] * cosine[k * (2 * j + 1) % cosine.size()];
      coefficient *= (k == 0 ? 1.0 : 2.0) / kTerms;
      for (std::size_t i = 0; i < kTerms; ++i) result[i] += coefficient * current[i];
      std::array<double, kTerms> next{};
      for (std::size_t i = 0; i < kTerms; ++i) next[i] = -previous[i];
      for (std::size_t i = 1; i < kTerms; ++i) next[i] += (k == 0 ? 1.0 : 2.0) * current[i - 1];
      previous = current;
      current = next;
    }
    return result;
  }

  long intervals_;
  double per_interval_;
  std::vector<std::array<double, kTerms>> coefficients_;
};

}  // namespace

double Window::fourier(double xi) const {
  double sum = 0;
  const double scale = xi * width_ / 2;
  for (std::size_t i = 0; i < nodes_.size(); ++i) sum += weights_[i] * std::cos(scale * nodes_[i]);
  return sum;
}

std::vector<double> Window::fourier_table(double step, long count) const {
  const double limit = step * static_cast<double>(std::max(0L, count - 1));
  if (count < 0 || !(step >= 0) || !(limit <= pi * (1 + 1e-12)))
    throw Error(Status::invalid_argument,
                fmt::format("table of {} frequencies with step {}: the last one must be within [0, pi]", count, step));
  std::vector<double> table(static_cast<std::size_t>(count));
  if (limit == 0 || count <= LocalPolynomials::samples_for(*this, limit)) {
    for (long j = 0; j < count; ++j) table[static_cast<std::size_t>(j)] = fourier(step * static_cast<double>(j));
    return table;
  }
  LocalPolynomials(*this, limit).table(step, count, table.data());
  return table;
}

void Window::fourier_many(const double* xi, long count, double limit, double* out) const {
  if (!(limit > 0 && limit <= pi * (1 + 1e-12)))
    throw Error(Status::invalid_argument, fmt::format("frequency limit {}: it must be within (0, pi]", limit));
  if (count <= LocalPolynomials::samples_for(*this, limit)) {
    for (long i = 0; i < count; ++i) out[i] = fourier(xi[i]);
    return;
  }
  const LocalPolynomials local(*this, limit);
  for (long i = 0; i < count; ++i) out[i] = local(xi[i]);
}

}  // namespace fourtune::generator
