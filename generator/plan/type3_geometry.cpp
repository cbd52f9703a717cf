#include "generator/plan/type3_geometry.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "generator/window/fft_size.h"

namespace fourtune::generator {

constexpr double kPi = std::numbers::pi;
constexpr double kTiny = 1e-150;  // of half-widths, whose reciprocals are far from overflow

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
  if (rule.width > kMaxGaussianWidth)
    throw Error(Status::invalid_plan,
                fmt::format("type3=gaussian(r={}): accuracy {} needs {} taps, more than {}; a larger r needs fewer", r,
                            accuracy, rule.width, kMaxGaussianWidth));
  return rule;
}

double gaussian_rounding(const GaussianRule& rule, double r, int dim, Precision precision) {
  // Both windows have the energy sqrt(2 pi b) and the transform sqrt(4 pi b) exp(-b xi^2), |xi| <= pi / R.
  const double most = 2 * rule.b * kPi * kPi / (r * r);  // exponent of the square of 1 / transform at the edge
  constexpr int kSteps = 256;                            // Simpson's rule; the exponent is at most 40
  double mean = 0;
  for (int i = 0; i <= kSteps; ++i) {
    const double u = static_cast<double>(i) / kSteps, weight = i == 0 || i == kSteps ? 1 : i % 2 == 1 ? 4 : 2;
    mean += weight * std::exp(most * u * u) / (3 * kSteps);
  }
  const double both = std::sqrt(2 * kPi * rule.b) * mean / (4 * kPi * rule.b);
  return epsilon(precision) / 2 * std::pow(std::max(1.0, both), dim);
}

double least_gaussian_r(double accuracy, int dim, Precision precision) {
  for (int tenths = 21; tenths <= 80; ++tenths) {
    const double r = tenths / 10.0;
    if (gaussian_rounding(gaussian_rule(accuracy, r), r, dim, precision) <= accuracy / 2) return r;
  }
  throw Error(Status::invalid_plan,
              fmt::format("type3=gaussian: rounding errors exceed {} with every r up to 8", accuracy));
}

std::array<double, 3> type3_extent(const Problem& problem) {
  if (problem.extent) return *problem.extent;
  const double points = static_cast<double>(problem.k.value_or(problem.m.value_or(1000000)));
  std::array<double, 3> out{};
  for (int d = 0; d < problem.dim; ++d)
    out[static_cast<std::size_t>(d)] = kPi / 2 * std::pow(points, 1.0 / problem.dim);
  return out;
}

double type3_source_half(const Problem& problem, int d, double source_half, double target_half) {
  const double product = source_half * target_half, full = type3_extent(problem)[static_cast<std::size_t>(d)];
  if (product <= 0 || product > full || product < (problem.extent ? 0.8 : 0.9999) * full) return source_half;
  return full / target_half;
}

Interval type3_interval(double low, double high) {
  // Their sum may overflow, their halves may underflow. Of neighbouring numbers the middle is one of the two.
  Interval out{std::midpoint(low, high), 0};
  out.half = std::max(high - out.centre, out.centre - low);
  if (std::abs(out.centre) < 0.1 * out.half) {
    out.half += std::abs(out.centre);
    out.centre = 0;
  }
  return out;
}

namespace {

// Returns a size that fits in 64 bits even after later multiplications; larger sizes could not be allocated anyway.
std::int64_t cells(double least) {
  if (!(least < 1e15))
    throw Error(
        Status::size_overflow,
        fmt::format("type 3: the space-bandwidth product asks for a grid of {:.3g} cells in one dimension", least));
  return static_cast<std::int64_t>(std::ceil(least));
}

std::int64_t even(std::int64_t n) { return n + n % 2; }

}  // namespace

Type3Map type3_map(double centre, long double cells_per_unit, std::int64_t cells, bool middle) {
  const long double factor = cells_per_unit / static_cast<long double>(cells);
  const long double before = middle ? static_cast<long double>(cells / 2) / cells_per_unit : 0;
  Type3Map map;
  map.centre = static_cast<double>(centre - before);
  // Of the doubles first, whose difference is exact: a long double may have no digits for `before` beside the centre.
  map.centre_low = static_cast<double>(static_cast<long double>(centre) - map.centre - before);
  map.factor = static_cast<double>(factor);
  map.factor_low = static_cast<double>(factor - map.factor);
  return map;
}

Type3Dimension type3_dimension(const Plan& plan, const Interval& source, const Interval& target,
                               const GaussianRule& gaussian) {
  Type3Dimension out;
  out.source_centre = source.centre;
  out.target_centre = target.centre;
  // For a single source or target (half-width 0) the scale is free: a product of 1 costs nothing. So is it for targets
  // so near to each other that the spacing would overflow.
  double x = source.half, s = target.half;
  if (s < kTiny) s = std::max(s, x < kTiny ? 1 : 1 / x);
  if (x == 0) x = 1 / s;
  if (plan.type3 == Type3Rule::gaussian) {
    const double r = plan.gaussian_r;
    out.spacing = kPi / (r * s);
    out.inner = smooth_size(cells(2 * (x * s * r * r / kPi + 2 * kPi * r * gaussian.b)));
    out.outer = std::min(out.inner, cells(2 * x / out.spacing) + gaussian.width + 1);
    out.held = out.inner;
  } else {
    out.spacing = kPi / (plan.window.sigma * s);
    const double band = 2 * x / out.spacing;
    out.outer = even(cells(band) + plan.window.width + 2);
    out.middle = true;
    // The cells beyond the band hold window tails. The outer halves of these tails are small and tolerate more
    // aliasing.
    const double strong = band + 0.5 * plan.window.width;
    const std::int64_t inner =
        std::max(cells(plan.inner.sigma * strong) + out.outer - cells(strong), std::int64_t{2} * plan.inner.width);
    // A grid that holds every window without wrap-around is faster to read; on small grids this needs a few more cells.
    const double unwrapped = (plan.inner.width + 4) / (1 - 1 / plan.window.sigma);
    out.part = unwrapped < 1.5 * static_cast<double>(inner);
    out.inner = smooth_size(out.part ? std::max(inner, cells(unwrapped)) : inner);
    out.held = out.inner;
    if (out.part)
      out.held =
          std::min(out.inner, even(cells(static_cast<double>(out.inner) / plan.window.sigma) + plan.inner.width + 2));
    out.part = out.held < out.inner;  // rounding to an even number may leave none out
  }
  return out;
}

}  // namespace fourtune::generator
