#include "runtime/cpu/type3_parameters.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "generator/fft_size.h"
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

namespace {

struct Range {
  double low = 0, high = 0;
};

// Least and greatest of count >= 1 coordinates and whether all are finite: in lanes, so that compilers use vectors.
template <class T>
bool find_range(const T* x, std::int64_t count, Range& range) {
  constexpr int kLanes = 64 / sizeof(T);
  T low[kLanes], high[kLanes], zero[kLanes] = {};  // x - x is 0 only for finite numbers
  std::fill_n(low, kLanes, x[0]);
  std::fill_n(high, kLanes, x[0]);
  const auto look = [&](int lane, T value) {
    low[lane] = value < low[lane] ? value : low[lane];
    high[lane] = high[lane] < value ? value : high[lane];
    zero[lane] += value - value;
  };
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    for (int lane = 0; lane < kLanes; ++lane) look(lane, x[i + lane]);
  for (; i < count; ++i) look(0, x[i]);
  range.low = *std::min_element(low, low + kLanes);
  range.high = *std::max_element(high, high + kLanes);
  return std::all_of(zero, zero + kLanes, [](T z) { return z == 0; });
}

}  // namespace

template <class T>
Interval interval(const T* coordinates, std::int64_t count, bool trust, const char* what, int threads) {
  if (count == 0) return {};
  constexpr std::int64_t kPiece = 16384;
  double low = coordinates[0], high = coordinates[0];
  bool finite = true;
#pragma omp parallel for num_threads(threads) reduction(min : low) reduction(max : high) reduction(&& : finite) \
    schedule(static) if (count > kPiece)
  for (std::int64_t i = 0; i < count; i += kPiece) {
    Range range;
    finite = find_range(coordinates + i, std::min(kPiece, count - i), range) && finite;
    low = std::min(low, range.low);
    high = std::max(high, range.high);
  }
  if (!finite && !trust) {
    const std::int64_t bad =
        std::find_if(coordinates, coordinates + count, [](T x) { return !std::isfinite(x); }) - coordinates;
    throw Error(Status::invalid_point, fmt::format("{}[{}] is {}; coordinates are finite numbers", what, bad,
                                                   static_cast<double>(coordinates[bad])));
  }
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

std::int64_t even(std::int64_t n) { return n + n % 2; }

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
    out.inner = generator::smooth_size(cells(2 * (x * s * r * r / kPi + 2 * kPi * r * gaussian.b)));
    out.outer = std::min(out.inner, cells(2 * x / out.spacing) + gaussian.width + 1);
    out.held = out.inner;
  } else {
    out.spacing = kPi / (plan.window.sigma * s);
    const double band = 2 * x / out.spacing;
    out.outer = even(cells(band) + plan.window.width + 2);
    out.middle = true;
    // The cells beyond the band hold tails of windows: those of their outer halves are small and stand more aliasing.
    const double strong = band + 0.5 * plan.window.width;
    const std::int64_t inner =
        std::max(cells(plan.inner.sigma * strong) + out.outer - cells(strong), std::int64_t{2} * plan.inner.width);
    // A grid that holds every window without wrapping around is faster to read; on small ones that takes a few cells.
    const double unwrapped = (plan.inner.width + 4) / (1 - 1 / plan.window.sigma);
    out.part = unwrapped < 1.5 * static_cast<double>(inner);
    out.inner = generator::smooth_size(out.part ? std::max(inner, cells(unwrapped)) : inner);
    out.held = out.inner;
    if (out.part)
      out.held =
          std::min(out.inner, even(cells(static_cast<double>(out.inner) / plan.window.sigma) + plan.inner.width + 2));
  }
  return out;
}

}  // namespace fourtune::runtime::cpu
