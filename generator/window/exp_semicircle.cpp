// The exponential of semicircle, exp(beta (sqrt(1-x^2) - 1)) (FINUFFT, Barnett et al. 2019).
#include <algorithm>
#include <cmath>

#include "generator/window/detail.h"
#include "generator/window/formula.h"

namespace fourtune::generator {
namespace {

struct ExpSemicircle {
  static double shape(double width, double t) {
    return window_edge(width, t) - quadratic(t, 1.922, -0.127, 1.705) / width -
           quadratic(t, 0.087, -2.569, 3.236) / (width * width);
  }

  // Computes sqrt(1-x^2) - 1 without cancellation, because beta would magnify the lost digits.
  static void evaluate(double beta, const std::vector<double>&, const double* x, long count, double* out) {
    for (long i = 0; i < count; ++i)
      out[i] = std::exp(-beta * x[i] * x[i] / (1 + std::sqrt(std::max(0.0, (1 - x[i]) * (1 + x[i])))));
  }

  // In the angle asin(x), which stretches the middle of the interval.
  static int quadrature_size(int width, double beta) {
    return 14 + static_cast<int>(std::ceil(0.59 * detail::cosine_degree(width) + 0.2 * beta));
  }
};

}  // namespace

const WindowFormula exp_semicircle_formula{.name = "es",
                                           .shape = ExpSemicircle::shape,
                                           .evaluate = ExpSemicircle::evaluate,
                                           .quadrature_size = ExpSemicircle::quadrature_size,
                                           .in_the_angle = true};

}  // namespace fourtune::generator
