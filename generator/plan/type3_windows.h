// Type 3: the pairs of windows that meet a tolerance.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "generator/plan/plan.h"

namespace fourtune::generator {

// Pairs of windows for the outer spreading and the inner type 2, the widest outer window first. Every width that can
// meet `tol` is listed with the smallest oversampling factor at which it does (grid sizes follow from the points, so
// any factor is possible). The two windows share the tolerance as the two stages of predicted_error do. Deconvolution
// of the outer window at the targets magnifies the inner window's error, and more so the nearer the outer oversampling
// factor is to 1; hence each outer window has a separate list of inner windows.
struct Type3Windows {
  WindowChoice outer;
  std::vector<WindowChoice> inner;
};
std::vector<Type3Windows> type3_windows(const Problem& problem, WindowKind kind, double tol);

// The smallest widths that meet the tolerance at the given oversampling factors; 0 if none does.
int type3_outer_width(const Problem& problem, WindowKind kind, double sigma, double tol);
int type3_inner_width(const Problem& problem, WindowKind kind, double sigma, const WindowChoice& outer, double tol);

// Whether rounding errors, magnified by the deconvolution of both windows, stay well below the tolerance.
bool type3_rounding_is_small(const Problem& problem, const WindowChoice& outer, const WindowChoice& inner);

// The outer oversampling factor to run with, at least that of the window. A sum of n random numbers has a rounding
// error of about sqrt(n) epsilons, which the outer deconvolution magnifies. Many sources on few cells therefore need a
// larger factor than few sources on many cells (f32, 3D, w=8 at sigma 1.25: an error of 3e-5 with one source per cell,
// 3e-3 with ten). products: half-width of the sources times that of the targets, one per dimension.
class Type3Sigma {
 public:
  Type3Sigma(const Problem& problem, const WindowChoice& outer) : problem_(problem), outer_(outer) {}
  double operator()(std::int64_t m, const std::array<double, 3>& products);

 private:
  double magnified(std::size_t step, double sigma);
  Problem problem_;
  WindowChoice outer_;
  std::vector<double> magnified_;  // of each step so far, as each takes 8 to 20 microseconds; usually there is one
};

// The tolerance for choosing windows. Below a few epsilons, rounding destroys what a better window gains.
double window_tolerance(const Problem& problem);
// The same for the windows of a type 3. Predictions are means over many points; if there are few points, all may lie
// where the error is largest, at the edges of their box.
double type3_tolerance(const Problem& problem);

}  // namespace fourtune::generator
