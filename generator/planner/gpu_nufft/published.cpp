#include "generator/planner/gpu_nufft/published.h"

#include <algorithm>
#include <cmath>

#include "generator/planner/gpu_nufft/choices.h"
#include "generator/window/fft_size.h"

namespace fourtune::generator::gpu_nufft {
namespace {

// Equation 6: w = ceil(log10(1 / tol)) + 1, beta = 2.30 w. The two windows of a type 3, which the paper does not have,
// share the tolerance.
WindowChoice published_window(const Problem& problem) {
  const double tol = problem.type == 3 ? problem.tol / 2 : problem.tol;
  WindowChoice window;
  window.kind = WindowKind::exp_semicircle;
  window.sigma = 2;
  window.width = std::clamp(static_cast<int>(std::ceil(-std::log10(tol) - 1e-9)) + 1, kMinWidth, kMaxWidth);
  window.beta = 230 * window.width / 100.0;
  window.fine = {0, 0, 0};
  if (problem.type == 3) return window;
  window.fine = {1, 1, 1};
  for (int d = 0; d < problem.dim; ++d)
    window.fine[d] = smooth_size(std::max<std::int64_t>(2 * problem.n[d], 2 * window.width));
  return window;
}

}  // namespace

std::optional<Plan> published_plan(const Problem& problem, const DeviceTraits& traits, Published method) {
  if (problem.kind != Kind::nufft || problem.dim < 2 || !is_gpu(traits.backend)) return std::nullopt;
  Plan plan = plan_for(traits.backend);
  plan.window = published_window(problem);
  if (problem.type == 3) plan.inner = plan.window;
  nufft::Shape shape = nufft::shape_on(traits, problem, {1, 1, 1}, plan.window.width);
  shape.semicircle = semicircle_of(plan.window);
  for (int d = 0; d < problem.dim; ++d)
    shape.fine[d] = std::max<std::int64_t>(plan.window.fine[d], 2 * plan.window.width);
  const nufft::Spread spread = method == Published::gm        ? nufft::Spread::gm
                               : method == Published::gm_sort ? nufft::Spread::gm_sort
                                                              : nufft::Spread::sm;
  auto& [fft, points] = plan.gpu();
  points = with_partner_of_spread(shape, spread, nufft::default_parameters(shape, spread));
  if (!why_not(points, shape).empty()) return std::nullopt;
  if (problem.type != 3 && has_gpu_fft_library(traits.backend)) fft.family = GpuFftFamily::cufft;
  return plan;
}

}  // namespace fourtune::generator::gpu_nufft
