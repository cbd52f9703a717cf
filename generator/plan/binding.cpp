#include "generator/plan/binding.h"

#include <algorithm>
#include <cmath>

#include "generator/plan/summation.h"
#include "generator/plan/type3_windows.h"
#include "generator/window/fft_size.h"

namespace fourtune::generator {

std::array<std::int64_t, 3> fine_grid(const Problem& problem, double sigma, int variant, std::int64_t least) {
  std::array<std::int64_t, 3> fine{1, 1, 1};
  for (int d = 0; d < problem.dim; ++d) {
    const double exact = sigma * static_cast<double>(problem.n[d]);
    fine[d] = smooth_size(std::max(static_cast<std::int64_t>(std::ceil(exact - 1e-9)), least));
    for (int v = 0; v < variant; ++v) fine[d] = smooth_size(fine[d] + 1);
  }
  return fine;
}

Binding bind_window(const Problem& problem, WindowKind kind, double nominal, const std::array<std::int64_t, 3>& fine) {
  Binding out;
  out.fine = fine;
  double least = kMaxSigma;
  for (int d = 0; d < problem.dim; ++d)
    least = std::min(least, static_cast<double>(out.fine[d]) / static_cast<double>(problem.n[d]));
  out.sigma = std::max(nominal, std::floor(least * 100) / 100);  // rounded down, to be on the safe side
  const double tol = window_tolerance(problem);
  out.width = width_for(kind, tol, out.sigma, problem.dim);
  if (out.width > 0 &&
      !rounding_is_small(problem, magnification({kind, out.sigma, out.width, fine, 0}, problem.dim), out.sigma))
    out.width = 0;
  if (out.width > kMinWidth && tol == problem.tol &&
      predicted_error(kind, out.width - 1, out.sigma, problem.dim) <= kStillRight * tol)
    out.narrower = out.width - 1;
  return out;
}

Binding bind_window(const Problem& problem, WindowKind kind, double nominal, int variant) {
  const int width = width_for(kind, window_tolerance(problem), nominal, problem.dim);
  return bind_window(problem, kind, nominal, fine_grid(problem, nominal, variant, width > 0 ? 2 * width : kLeastFine));
}

}  // namespace fourtune::generator
