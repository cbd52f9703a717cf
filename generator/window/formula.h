// What makes a window. Each has a file with its formula (exp_semicircle.cpp, kaiser_bessel.cpp, pswf.cpp, gaussian.cpp)
// and a line in the table of window.cpp.
#pragma once

#include <numbers>
#include <vector>

#include "generator/window/window.h"

namespace fourtune::generator {

inline double one_tap_more(double taps) { return 1 + taps; }

struct WindowFormula {
  const char* name;        // as plan texts spell it
  int widest = kMaxWidth;  // the largest width
  // Window's shape parameter beta by width and t = 1 / sigma (beta_rule).
  double (*shape)(double width, double t);
  // Numbers that evaluate takes, made once per window; null: it needs none.
  std::vector<double> (*series)(double beta) = nullptr;
  // out[i] = phi(x[i]), i < count, for x in [-1, 1]; beyond that, any value.
  void (*evaluate)(double beta, const std::vector<double>& series, const double* x, long count, double* out);
  // Number of nodes on the half interval that integrate phi(x) cos(xi w x / 2), |xi| <= pi, to rounding. The
  // integrand's Chebyshev series ends a little above detail::cosine_degree plus the bandwidth of the window, and the
  // rule of 2q points is exact to degree 4q - 1. The constants give the smallest sizes that reached 1e-15 for widths 2
  // to 65 and sigma 1.05 to 4, plus one.
  int (*quadrature_size)(int width, double beta);
  // The integrand is smooth in theta, x = sin(theta), and not at the ends of x.
  bool in_the_angle = false;
  // The width at which the search for an error begins; the error decays like exp(-pi w sqrt(1 - 1/sigma)), and taps is
  // the width at which that reaches the tolerance.
  double (*first_width)(double taps) = one_tap_more;
};
const WindowFormula& formula_of(WindowKind kind) noexcept;

extern const WindowFormula exp_semicircle_formula, kaiser_bessel_formula, pswf_formula, gaussian_formula;

// For the rules of shape parameters. At the edge a window's transform must have decayed: its bandwidth beta extends
// from 0 to the lowest frequency that aliases onto a mode, 2 pi - pi/sigma. The optimum is slightly smaller. The
// coefficients are least-squares fits to minima found in extended precision for widths 2 to 16 (28) and sigma 1.05 to 4
// (docs/design/windows.md).
inline double window_edge(double width, double t) { return std::numbers::pi * width * (1 - t / 2); }
inline double quadratic(double t, double a, double b, double c) { return a + t * (b + t * c); }

}  // namespace fourtune::generator
