#include "runtime/cpu/type3_parameters.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "runtime/cpu/nufft_common.h"

namespace fourtune::runtime::cpu {

GaussianRule gaussian_rule(double accuracy, double r) {
  const double alpha = 2 + 1 / std::sqrt(2 * kPi);
  const double gamma = kPi * kPi * (1 - 2 / (r * r));
  double b = 1;
  for (int step = 0; step < 100; ++step) {
    const double next = std::log((4 * alpha * b + 9 * alpha) / accuracy) / gamma;
    if (std::abs(next - b) < 1e-12 * next) break;
    b = next;
  }
  GaussianRule rule;
  rule.b = b;
  rule.width = 2 * static_cast<int>(std::ceil(2 * kPi * b)) + 1;
  if (rule.width > generator::kMaxGaussianWidth)
    throw Error(Status::invalid_plan,
                fmt::format("type3=gaussian(r={}): accuracy {} needs {} taps, more than {}; a larger r needs fewer", r,
                            accuracy, rule.width, generator::kMaxGaussianWidth));
  return rule;
}

template <class T>
Interval interval(const T* coordinates, std::int64_t count, bool trust, const char* what, int threads) {
  if (count == 0) return {};
  double low = coordinates[0], high = coordinates[0];
  std::int64_t first_bad = count;
#pragma omp parallel for num_threads(threads) reduction(min : low, first_bad) reduction(max : high) schedule(static)
  for (std::int64_t i = 0; i < count; ++i) {
    const double x = coordinates[i];
    if (!std::isfinite(x)) first_bad = std::min(first_bad, i);
    low = std::min(low, x);
    high = std::max(high, x);
  }
  if (first_bad < count && !trust)
    throw Error(Status::invalid_point, fmt::format("{}[{}] is {}; coordinates are finite numbers", what, first_bad,
                                                   static_cast<double>(coordinates[first_bad])));
  Interval out{(low + high) / 2, (high - low) / 2};
  if (std::abs(out.centre) < 0.1 * out.half) {
    out.half += std::abs(out.centre);
    out.centre = 0;
  }
  return out;
}
template Interval interval<float>(const float*, std::int64_t, bool, const char*, int);
template Interval interval<double>(const double*, std::int64_t, bool, const char*, int);

namespace {

// A size that fits in 64 bits even when multiplied out later; sizes this large cannot be allocated anyway.
std::int64_t cells(double least) {
  if (!(least < 1e15))
    throw Error(
        Status::size_overflow,
        fmt::format("type 3: the space-bandwidth product asks for a grid of {:.3g} cells in one dimension", least));
  return static_cast<std::int64_t>(std::ceil(least));
}

}  // namespace

Type3Dimension type3_dimension(const generator::Plan& plan, const Interval& source, const Interval& target,
                               const GaussianRule& gaussian) {
  Type3Dimension out;
  out.source_centre = source.centre;
  out.target_centre = target.centre;
  // A single source or target (half-width 0) leaves the scale free: a product of 1 costs nothing.
  double x = source.half, s = target.half;
  if (s == 0) s = x > 0 ? 1 / x : 1;
  if (x == 0) x = 1 / s;
  if (plan.type3 == generator::Type3Rule::gaussian) {
    const double r = plan.gaussian_r;
    out.spacing = kPi / (r * s);
    out.inner = good_fft_size(cells(2 * (x * s * r * r / kPi + 2 * kPi * r * gaussian.b)));
    out.outer = std::min(out.inner, cells(2 * x / out.spacing) + gaussian.width + 1);
  } else {
    out.spacing = kPi / (plan.window.sigma * s);
    out.outer = cells(2 * x / out.spacing) + plan.window.width + 1;
    out.inner = good_fft_size(
        std::max(cells(plan.inner.sigma * static_cast<double>(out.outer)), std::int64_t{2} * plan.inner.width));
  }
  return out;
}

}  // namespace fourtune::runtime::cpu
