#include "generator/plan/summation.h"

#include <algorithm>
#include <cmath>

#include "generator/window/window.h"

namespace fourtune::generator {
namespace {

constexpr double kGrowth = 0.4;         // error of a sum, in eps sqrt(N); 0.2 to 0.47 measured
constexpr double kRoundedBound = 1.01;  // for plans that lie exactly on a bound
constexpr std::int64_t kLeast = 256;    // points per array that are worth the additions of its cells
constexpr std::int64_t kMany = 400;  // terms of the two sums that make a cell of the grid, of 40000 points in one place

std::int64_t points_of(const Problem& problem) {
  constexpr std::int64_t kUnknown = std::int64_t{1} << 40;
  if (problem.type == 3) return std::max(problem.m.value_or(kUnknown), problem.k.value_or(kUnknown));
  return problem.m.value_or(kUnknown);
}

}  // namespace

double magnification(const WindowChoice& window, int dim) {
  return std::pow(rounding_magnification(window_of(window)), dim);
}

std::int64_t longest_sum(const Problem& problem, double magnified) {
  const double root = 0.5 * allowed_error(problem) / (kGrowth * epsilon(problem.precision) * std::max(magnified, 1e-3));
  return std::max(kLeast, static_cast<std::int64_t>(std::min(root * root, 1e15)));
}

bool rounding_is_small(const Problem& problem, double magnified, double sigma) {
  const double eps = epsilon(problem.precision), single = eps * magnified;
  if (single > kRoundedBound * std::max(0.5 * problem.tol, 8 * eps)) return false;
  const double growth = kGrowth * std::sqrt(static_cast<double>(std::min(points_of(problem), kMany)));
  return sigma >= kSafeSigma || single * growth <= kRoundedBound * 0.4 * allowed_error(problem);
}

std::int64_t crowd(const Problem& problem, const WindowChoice& window, Crowds crowds) {
  const std::int64_t points = points_of(problem);
  if (crowds == Crowds::unseen || problem.points == PointClass::cluster || problem.type == 3) return points;
  double mean = static_cast<double>(points);
  for (int d = 0; d < problem.dim; ++d)
    mean *= std::min(
        1.0, static_cast<double>(window.width) / static_cast<double>(std::max<std::int64_t>(window.fine[d], 1)));
  return static_cast<std::int64_t>(std::min(static_cast<double>(points), 100 * mean));
}

bool fixed_point_is_enough(const Problem& problem, const Plan& plan) {
  constexpr double kUnits = 6;  // the scale is a power of two, and a cell is smaller than its largest weights allow
  const double points = static_cast<double>(crowd(problem, plan.window, Crowds::unseen));
  const double eps = epsilon(problem.precision), unit = kUnits * std::max(0x1p-49, 0x1p-60 * points);
  if (plan.type3 == Type3Rule::gaussian) return false;  // what its deconvolution magnifies is not modelled
  double magnified = magnification(plan.window, problem.dim);
  if (problem.type == 3) {
    // All points of a type 3 may lie in corners of their boxes (3D, tol 1e-10, one source: 4e4 times the unit). Numbers
    // that are rounded to larger units do so without fixed point, too.
    magnified = unit > eps
                    ? std::pow(edge_magnification(window_of(plan.window)) * edge_magnification(window_of(plan.inner)),
                               problem.dim)
                    : magnified * magnification(plan.inner, problem.dim);
  }
  const double rounding = std::max(eps, unit);
  return rounding * magnified <= std::max(0.5 * problem.tol, 8 * eps);
}

bool may_add_directly(const Problem& problem, const WindowChoice& window, Crowds crowds) {
  const std::int64_t points = crowd(problem, window, crowds);
  return points <= kLeast || points <= longest_sum(problem, magnification(window, problem.dim));
}

}  // namespace fourtune::generator
