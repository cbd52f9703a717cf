// Type 3: the pairs of windows that meet a tolerance.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "generator/plan/plan.h"

namespace fourtune::generator {

// Windows of the outer spreading and of the inner type 2, the widest first: every width that has a least oversampling
// at which the error meets `tol`, at that oversampling (grids are sized by the points, so any will do). Both are shared
// between the two windows as predicted_error's two stages are. Deconvolving the outer window at the targets magnifies
// the inner one's error the more the nearer the outer oversampling is to 1, hence a list of inner windows an outer one.
struct Type3Windows {
  WindowChoice outer;
  std::vector<WindowChoice> inner;
};
std::vector<Type3Windows> type3_windows(const Problem& problem, WindowKind kind, double tol);

// The least widths at given oversamplings that meet the tolerance, 0 where none does.
int type3_outer_width(const Problem& problem, WindowKind kind, double sigma, double tol);
int type3_inner_width(const Problem& problem, WindowKind kind, double sigma, double outer_sigma, double tol);

// Whether rounding, magnified by the deconvolution of both windows, stays well below the tolerance.
bool type3_rounding_is_small(const Problem& problem, const WindowChoice& outer, const WindowChoice& inner);

// The outer oversampling to run with, at least the window's own: a sum of n random numbers is rounded to about
// sqrt(n) epsilons, which the outer deconvolution magnifies. So many sources on few cells need a larger oversampling
// than few on many (f32, 3D, w=8 at sigma 1.25: 3e-5 with a source a cell, 3e-3 with ten). products: half-width of the
// sources times that of the targets, a dimension each. 20 microseconds a step, usually one.
double type3_sigma(const Problem& problem, const WindowChoice& outer, std::int64_t m,
                   const std::array<double, 3>& products);

// Rounding spoils what a window gains below a few epsilons.
double window_tolerance(const Problem& problem);
// The same for the windows of a type 3: predictions are means over many points, of which few may all lie where the
// error is largest, at the edges of their box.
double type3_tolerance(const Problem& problem);

}  // namespace fourtune::generator
