// The Gaussian exp(-beta x^2): of types 3 as paper nufft-type3-cuda has them, which take it wider than other windows.
#include <cmath>

#include "generator/window/detail.h"
#include "generator/window/formula.h"

namespace fourtune::generator {
namespace {

struct Gaussian {
  static double shape(double width, double t) {
    return window_edge(width, t) / 2 - quadratic(t, 1.013, -3.011, 2.483) -
           quadratic(t, -0.238, 1.438, -1.114) * std::log(width);
  }

  static void evaluate(double beta, const std::vector<double>&, const double* x, long count, double* out) {
    for (long i = 0; i < count; ++i) out[i] = std::exp(-beta * x[i] * x[i]);
  }

  // Its spectrum exp(-k^2 / (4 beta)) is below 1e-16 beyond 2 sqrt(37 beta).
  static int quadrature_size(int width, double beta) {
    return 7 + static_cast<int>(std::ceil((detail::cosine_degree(width) + 2 * std::sqrt(37 * beta)) / 4));
  }

  // Its error decays half as fast as that of others and not at every step (its truncation interferes with the cell
  // spacing), so its search goes upwards from well below.
  static double first_width(double taps) { return 0.6 * 2 * taps; }
};

}  // namespace

const WindowFormula gaussian_formula{.name = "gaussian",
                                     .widest = kMaxGaussianWidth,
                                     .shape = Gaussian::shape,
                                     .evaluate = Gaussian::evaluate,
                                     .quadrature_size = Gaussian::quadrature_size,
                                     .first_width = Gaussian::first_width};

}  // namespace fourtune::generator
