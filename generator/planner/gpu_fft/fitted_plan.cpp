#include "generator/planner/gpu_fft/fitted_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "generator/codegen/fft/any_length/any_size.h"
#include "generator/codegen/fft/emit/pass_memory.h"

namespace fourtune::generator::fft {
namespace {

// About halves the largest number of values carried along any dimension: takes the largest number up to the half that
// kernel k may carry. Returns false if nothing is left to halve.
bool halve(FftPlan& plan, std::size_t k, const EmitOptions& options) {
  Kernel& kernel = plan.kernels[k];
  auto& tile = kernel.with.tile;
  const auto most = std::max_element(tile.begin(), tile.end());
  if (*most < 2) return false;
  const auto may_carry = [&] { return lower(plan, options).refusal.empty(); };
  *most /= 2;
  while (*most > 1 && !may_carry()) --*most;
  if (kernel.with.threads % 64 == 0) kernel.with.threads /= 2;
  return true;
}

// Kernels that need more shared memory than a block has first exchange the real and imaginary parts one after the
// other, then carry less.
void fit_shared_memory(FftPlan& plan, const EmitOptions& options, const DeviceTraits& device) {
  for (bool changed = true; changed;) {
    changed = false;
    const std::vector<PlannedPass> passes = plan_passes(plan, options).passes;
    for (std::size_t k = 0; k < plan.kernels.size(); ++k) {
      Kernel& kernel = plan.kernels[k];
      const std::int64_t bytes = pass_memory(passes[k].spec).bytes;
      if (bytes <= device.shared_per_block) continue;
      if (kernel.with.parts == Parts::together && kernel.with.exchange == Exchange::shared)
        kernel.with.parts = Parts::apart;
      else if (!halve(plan, k, options))
        throw Error(Status::unsupported,
                    fmt::format("kernel {} of the plain plan needs {} bytes of shared memory, a block of {} has {}",
                                k + 1, bytes, device.name, device.shared_per_block));
      changed = true;
    }
  }
}

}  // namespace

FftPlan fitted_plan(const EmitOptions& asked, const DeviceTraits& device) {
  EmitOptions options = asked;
  options.device = device;
  FftPlan plan = plain_plan(options);
  fit_shared_memory(plan, options, device);
  return plan;
}

}  // namespace fourtune::generator::fft
