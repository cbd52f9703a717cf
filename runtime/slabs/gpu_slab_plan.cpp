#include "runtime/slabs/gpu_slab_plan.h"

#include <fmt/format.h>

#include "generator/plan/summation.h"
#include "generator/planner/gpu_nufft/choices.h"
#include "generator/window/polynomial.h"
#include "runtime/backends/gpu/nufft_common.h"

namespace fourtune::runtime {

using generator::nufft::Interpolate;
using generator::nufft::Parameters;

std::string gpu_slabs_fault(const generator::Plan& plan, const Problem& problem) {
  const auto last = static_cast<std::size_t>(problem.dim - 1);
  const generator::GpuStages& stages = plan.gpu();
  if (stages.fft.family != generator::GpuFftFamily::plain) return "slabs with points on a GPU take fft=plain";
  if (is_published(stages.points.spread) || is_published(stages.points.interp))
    return "slabs on a GPU take no methods as published: gm, gm_sort and sm";
  if (problem.type == 3)  // its grids follow from the points
    return plan.type3 == generator::Type3Rule::compose ? "" : "slabs of a type 3 need type3=compose";
  if (plan.window.fine[last] < plan.window.width)
    return fmt::format("{} cells along the last dimension are fewer than a window reaches", plan.window.fine[last]);
  return {};
}

generator::nufft::Shape whole_grid(const Problem& problem, const generator::Plan& plan, const DeviceTraits& device) {
  return generator::nufft::shape_on(device, problem, plan.window.fine, plan.window.width);
}

generator::nufft::StageKernels locator_of(const Problem& problem, const generator::Plan& plan, bool trust,
                                          const DeviceTraits& device) {
  const auto& points = plan.gpu().points;
  Parameters with = problem.type == 1 ? points.spread_with : points.interp_with;
  with.check = !trust;
  return {whole_grid(problem, plan, device), with,
          generator::kernel_polynomial(generator::window_of(plan.window), epsilon(problem.precision))};
}

generator::gpu_nufft::GridFft grid_fft_of(const Problem& problem, const generator::Plan& plan, ModeOrder order) {
  generator::gpu_nufft::GridFft grid;
  grid.dim = problem.dim;
  grid.precision = problem.precision;
  grid.modes = problem.n.xyz();
  grid.fine = plan.window.fine;
  grid.order = gpu::order_of(order);
  const generator::Window window = generator::window_of(plan.window);
  for (std::size_t d = 0; d < static_cast<std::size_t>(problem.dim); ++d)
    grid.factors[d] = generator::gpu_nufft::deconvolution_factors(window, grid.fine[d], grid.modes[d], grid.order);
  return grid;
}

generator::Plan fit_for_gpu_slabs(const generator::Plan& plan, const Problem& problem, const DeviceTraits& device,
                                  bool deterministic) {
  generator::Plan fitted = plan;
  fitted.gpu().fft = {};
  fitted.gpu().fft.family = generator::GpuFftFamily::plain;
  if (!deterministic || problem.type == 3) return fitted;  // a type 3 has grids, and bins, when it has points
  const generator::nufft::Shape shape = whole_grid(problem, plan, device);
  const auto lead = problem.type == 1 ? generator::gpu_nufft::Lead::spread : generator::gpu_nufft::Lead::interpolate;
  generator::GpuPointsChoice& points = fitted.gpu().points;
  points = generator::gpu_nufft::deterministic(points, shape, lead, !generator::fixed_point_is_enough(problem, plan));
  points.spread_with.deterministic = points.spread_with.twice = false;  // the executor's matter
  // Register windows add up in an order that depends on where a plane lies in the slab.
  const Parameters& sort = points.spread_with;
  Parameters with = default_parameters(shape, Interpolate::points);
  with.order = sort.order, with.bin = sort.bin, with.cap = sort.cap, with.placement = sort.placement;
  with.segment = sort.segment, with.slice = sort.slice;
  points.interp = Interpolate::points, points.interp_with = with;
  return fitted;
}

}  // namespace fourtune::runtime
