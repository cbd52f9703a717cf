// The Fourier transform of a window at many scattered frequencies: the table is built once, then each frequency takes a
// few nanoseconds.
#pragma once

#include <array>
#include <vector>

#include "generator/window/window.h"

namespace fourtune::generator {

// The transform on [0, limit] as polynomials of degree kTerms - 1 on intervals of equal length. The transform is
// band-limited (its spectrum is phi, supported on |s| <= w/2). With a phase of 1/2 the interpolation error is therefore
// 0.5^12 / (12! 2^11) = 2.5e-16 / 1000 of its maximum, far below rounding. Immutable, usable from any thread.
class FourierInterpolant {
 public:
  // Throws Error{invalid_argument} for a limit outside (0, pi].
  FourierInterpolant(const Window& window, double limit);

  // Returns Window::fourier(xi) for |xi| <= limit. xi may exceed the limit by rounding; farther out the value is
  // unspecified.
  double operator()(double xi) const {
    const double position = (xi < 0 ? -xi : xi) * per_interval_;
    const long last = intervals_ - 1;  // also takes xi that exceeds the limit by rounding
    const long interval = position < static_cast<double>(last) ? static_cast<long>(position) : last;
    const double z = 2 * (position - static_cast<double>(interval)) - 1;
    const std::array<double, kTerms>& c = coefficients_[static_cast<std::size_t>(interval)];
    double sum = c[kTerms - 1];
    for (int k = kTerms - 2; k >= 0; --k) sum = sum * z + c[static_cast<std::size_t>(k)];
    return sum;
  }
  // out[j] = transform at step * j, j < count, step * (count - 1) <= limit.
  void table(double step, long count, double* out) const;

  // The polynomials: coefficients()[i][k] is the coefficient of power k on interval i, where i is |xi| * per_interval()
  // rounded down (at most the last interval) and the variable is z = 2 (|xi| * per_interval() - i) - 1.
  static constexpr int kTerms = 12;  // coefficients per interval
  const std::vector<std::array<double, kTerms>>& coefficients() const { return coefficients_; }
  double per_interval() const { return per_interval_; }

  // Number of evaluations of Window::fourier in the constructor. For fewer frequencies than this it is cheaper to
  // evaluate each one directly.
  static long samples_for(const Window& window, double limit);

 private:
  static std::array<double, kTerms> to_monomials(const std::array<double, kTerms>& samples,
                                                 const std::array<double, 4 * kTerms>& cosine);
  long intervals_ = 1;
  double per_interval_ = 1;
  std::vector<std::array<double, kTerms>> coefficients_;
};

}  // namespace fourtune::generator
