#include "generator/plan/accuracy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "generator/plan/binding.h"
#include "generator/plan/summation.h"
#include "generator/plan/type3_geometry.h"
#include "generator/plan/type3_windows.h"
#include "generator/window/table.h"

namespace fourtune::generator {
namespace {

constexpr double kSlack = 1.01;  // candidates may lie exactly on a bound

// Candidates may have errors up to this bound. width_for accepts no tolerance below 10 eps of double.
double allowed_aliasing(double tol) { return kSlack * kStillRight * std::max(tol, 10 * 0x1p-52); }

double window_error(const WindowChoice& choice, const Window& window, int dim, int stages) {
  return choice.table > 0 ? aliasing_error_of_table(window, choice.table, dim, stages)
                          : aliasing_error(window, dim, stages);
}

// The effect of one dimension of a grid on the window's errors.
struct Along {
  double square = 0;     // squared relative error
  double magnified = 1;  // magnification of rounding errors
};
Along along(const WindowChoice& choice, double beta, double oversampling) {
  const Window window(choice.kind, choice.width, std::min(oversampling, kMaxSigma), beta);
  const double error = window_error(choice, window, 1, 1);
  return {error * error, rounding_magnification(window)};
}

// Types 1 and 2. sigma determines the window's shape, but the oversampling factor of the grid itself determines which
// modes must be accurate.
std::string grid_fault(const WindowChoice& choice, const Problem& problem) {
  const double beta = choice.beta > 0 ? choice.beta : beta_rule(choice.kind, choice.width, choice.sigma);
  double logs = 0, magnified = 1, last = 0;
  Along one;
  for (int d = 0; d < problem.dim; ++d) {
    const double oversampling = static_cast<double>(choice.fine[d]) / static_cast<double>(problem.n[d]);
    if (!(oversampling > 1))
      return fmt::format("a fine grid of {} cells for {} modes along {} oversamples nothing", choice.fine[d],
                         problem.n[d], "xyz"[d]);
    if (oversampling != last) one = along(choice, beta, last = oversampling);
    logs += std::log1p(one.square);
    magnified *= one.magnified;
  }
  const double error = std::sqrt(std::expm1(logs)), allowed = allowed_aliasing(window_tolerance(problem));
  if (!(error <= allowed))
    return fmt::format("its window gives errors of {:.2g} on its grid, above the {:.2g} that tol={:g} leaves it", error,
                       allowed, problem.tol);
  if (!rounding_is_small(problem, magnified, choice.sigma))
    return fmt::format("deconvolution magnifies rounding {:.2g} times on its grid, too much for tol={:g}", magnified,
                       problem.tol);
  return {};
}

std::string width_fault(const char* stage, const WindowChoice& choice, int least, const Problem& problem, double tol) {
  const bool by_rule = choice.beta == 0;
  if (by_rule && (least == 0 || choice.width < least))
    return fmt::format("{}: width={} at sigma={:g} cannot meet tol={:g}; {}", stage, choice.width, choice.sigma,
                       problem.tol, least == 0 ? "no width can" : fmt::format("{} is the least", least));
  if (choice.table == 0 && by_rule) return {};
  const double error = window_error(choice, window_of(choice), problem.dim, 2);
  if (error <= allowed_aliasing(tol)) return {};
  if (choice.table == 0)
    return fmt::format("{}: beta={:g} gives errors of {:.2g}, too much for tol={:g}", stage, choice.beta, error,
                       problem.tol);
  return fmt::format("{}: table={} gives errors of {:.2g}, too much for tol={:g}", stage, choice.table, error,
                     problem.tol);
}

// Type 3: the grids are made from the points with the plan's sigmas.
std::string type3_fault(const Plan& plan, const Problem& problem) {
  if (plan.type3 == Type3Rule::gaussian) {
    gaussian_rule(problem.tol, plan.gaussian_r);  // throws if no window width meets the tolerance
    return {};
  }
  const double tol = type3_tolerance(problem), wide = kSlack * kStillRight * tol;
  const WindowChoice &outer = plan.window, &inner = plan.inner;
  std::string fault =
      width_fault("window", outer, type3_outer_width(problem, outer.kind, outer.sigma, wide), problem, tol);
  if (fault.empty())
    fault = width_fault("inner", inner, type3_inner_width(problem, inner.kind, inner.sigma, outer, wide), problem, tol);
  if (fault.empty() && !type3_rounding_is_small(problem, outer, inner))
    fault = fmt::format("rounding, magnified by windows of sigma={:g} and {:g}, is too large for tol={:g}", outer.sigma,
                        inner.sigma, problem.tol);
  return fault;
}

// Families that add all points to the same cells. The others start new cells after at most longest_sum points. A type 2
// spreads for its adjoint only; on a GPU its sort then decides the family.
std::string summation_fault(const Plan& plan, const Problem& problem) {
  const bool gpu = is_gpu(plan.backend);
  const bool direct =
      gpu ? !nufft::by_subproblems(plan.gpu().points.spread) && problem.type != 2
          : !spreader_of(plan.cpu().spread.family).private_tiles || plan.cpu().sort.family == SortFamily::none;
  // Published methods run as their papers have them, also where points in one place would be summed less well.
  const bool published = gpu && plan.gpu().points.spread != nufft::Spread::points;
  const Crowds crowds = gpu && !published ? Crowds::unseen : Crowds::counted;
  if (!direct || plan.type3 == Type3Rule::gaussian || may_add_directly(problem, plan.window, crowds)) return {};
  return fmt::format(
      "its spreader may add {} points to one cell, and rounding leaves tol={:g} no more than {}; "
      "spread={} has no such limit",
      crowd(problem, plan.window, crowds), problem.tol, longest_sum(problem, magnification(plan.window, problem.dim)),
      gpu ? "tile_owned" : "subgrid");
}

}  // namespace

std::string accuracy_fault(const Plan& plan, const Problem& problem) {
  if (problem.kind == Kind::fft) return {};
  if (std::string fault = summation_fault(plan, problem); !fault.empty()) return fault;
  try {
    return problem.type == 3 ? type3_fault(plan, problem) : grid_fault(plan.window, problem);
  } catch (const Error& error) {  // numbers for which no window exists
    return error.what();
  }
}

}  // namespace fourtune::generator
