// Rounding of sums in spreading. The partial sums of N random strengths grow as sqrt(N), and the rounding of every
// addition with them, so a cell that receives N strengths one after another has an error of about 0.4 eps sqrt(N) times
// its sum; deconvolution magnifies it like any other rounding (rounding_magnification). All points may lie in one
// place, and the plan is made before they are known. docs/design/windows.md has the measurements.
#pragma once

#include <cstdint>

#include "fourtune/problem.h"
#include "generator/plan/plan.h"

namespace fourtune::generator {

// Magnification of rounding errors by deconvolution with this window, in all dimensions.
double magnification(const WindowChoice& window, int dim);

// The most points that a spreader should add to one array; then it takes new cells, which begin at zero, and adds them
// to the grid. `magnified` is the magnification. At least 256, below which new cells would take the time.
std::int64_t longest_sum(const Problem& problem, double magnified);

// Whether rounding, magnified so much, leaves the tolerance to the window: that of single numbers and, below
// kSafeSigma, that of a cell which all points of the problem share.
bool rounding_is_small(const Problem& problem, double magnified, double sigma);
// From this oversampling factor on, deconvolution hardly magnifies rounding, so crowded cells are no reason to refuse
// it.
inline constexpr double kSafeSigma = 2;

// Who notices that more points share a cell than the problem's class lets expect: `counted` means that set_points
// counts and changes the method (the processor's gridder), `unseen` that nobody does.
enum class Crowds { counted, unseen };
// The most points that may share a cell: all of them, or, where they are counted and neither a cluster nor those of a
// type 3, a hundred times the mean.
std::int64_t crowd(const Problem& problem, const WindowChoice& window, Crowds crowds);
// Whether so many may be added to a cell one after another, as spreaders do that add to the grid directly.
bool may_add_directly(const Problem& problem, const WindowChoice& window, Crowds crowds);

// Whether sums in fixed point, which GPUs use for deterministic results, keep the digits that the tolerance needs.
// Their unit must leave room for all points that may share a cell (templates/nufft_common.cuh); where it leaves too few
// digits, a second sum takes what the unit leaves out.
bool fixed_point_is_enough(const Problem& problem, const Plan& plan);

}  // namespace fourtune::generator
