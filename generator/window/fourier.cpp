// Fourier transforms of windows: a single frequency by quadrature, many frequencies by local Chebyshev interpolation of
// the transform.
#include "generator/window/fourier.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "fourtune/status.h"

namespace fourtune::generator {
namespace {

using std::numbers::pi;

constexpr double kPhase = 0.5;  // largest half-length of an interval in units of 2 / w, the scale on which the
                                // transform varies

long intervals_for(const Window& window, double limit) {
  return std::max(1L, std::lround(std::ceil(limit * window.width() / (4 * kPhase))));
}

}  // namespace

FourierInterpolant::FourierInterpolant(const Window& window, double limit) : intervals_(intervals_for(window, limit)) {
  if (!(limit > 0 && limit <= pi * (1 + 1e-12)))
    throw Error(Status::invalid_argument, fmt::format("frequency limit {}: it must be within (0, pi]", limit));
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

// Works interval by interval, so that the inner loop has no look-ups.
void FourierInterpolant::table(double step, long count, double* out) const {
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

long FourierInterpolant::samples_for(const Window& window, double limit) {
  return kTerms * intervals_for(window, limit);
}

// Coefficients (lowest power of z first) of the interpolant through samples at the Chebyshev nodes.
std::array<double, FourierInterpolant::kTerms> FourierInterpolant::to_monomials(
    const std::array<double, kTerms>& samples, const std::array<double, 4 * kTerms>& cosine) {
  std::array<double, kTerms> result{};
  std::array<double, kTerms> previous{}, current{};  // T_k-1 and T_k in powers of z
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
  if (limit == 0 || count <= FourierInterpolant::samples_for(*this, limit)) {
    for (long j = 0; j < count; ++j) table[static_cast<std::size_t>(j)] = fourier(step * static_cast<double>(j));
    return table;
  }
  FourierInterpolant(*this, limit).table(step, count, table.data());
  return table;
}

void Window::fourier_many(const double* xi, long count, double limit, double* out) const {
  if (!(limit > 0 && limit <= pi * (1 + 1e-12)))
    throw Error(Status::invalid_argument, fmt::format("frequency limit {}: it must be within (0, pi]", limit));
  if (count <= FourierInterpolant::samples_for(*this, limit)) {
    for (long i = 0; i < count; ++i) out[i] = fourier(xi[i]);
    return;
  }
  const FourierInterpolant local(*this, limit);
  for (long i = 0; i < count; ++i) out[i] = local(xi[i]);
}

}  // namespace fourtune::generator
