// Floors and estimates of uniform transforms on GPUs. fft/plan_cost.h has those of kernels; the library's are guessed
// from the data that it must move.
#include <algorithm>
#include <cmath>

#include "generator/codegen/fft/any_length/any_size.h"
#include "generator/planner/gpu_fft/plan_cost.h"
#include "generator/planner/gpu_fft/planner.h"
#include "generator/planner/gpu_fft/program.h"

namespace fourtune::generator {
namespace {

constexpr double longest_line = 8192;  // that one kernel can transform

// Passes through memory: one per dimension, and more where a line is longer than a block holds.
double passes(const Problem& problem) {
  double count = 0;
  for (int d = 0; d < problem.dim; ++d) {
    const auto n = static_cast<double>(problem.n[static_cast<std::size_t>(d)]);
    if (n > 1) count += std::max(1.0, std::ceil(std::log(n) / std::log(longest_line) - 1e-9));
  }
  return std::max(1.0, count);
}

double array_bytes(const Problem& problem) {
  return 2.0 * static_cast<double>(real_bytes(problem.precision)) * static_cast<double>(mode_count(problem)) *
         static_cast<double>(problem.batch);
}

double share(const Problem& problem, const fft::FftCosts& costs) {
  return problem.fft_type == FftType::c2c ? 1 : costs.real;
}

// Estimate from traffic alone. Inside Bluestein's kernels, lengths grow by a factor of two to four.
double by_traffic(const Problem& problem, const DeviceTraits& traits, const fft::FftCosts& costs) {
  double trips = passes(problem);
  for (const std::int64_t n : problem.n)
    if (!fft::has_codelets(n)) trips += n > 4096 ? 5 : 0.5;
  const double bandwidth = std::max(1.0, costs.copy * traits.memory_bandwidth) * costs.library_trip;
  return share(problem, costs) * trips * 2 * array_bytes(problem) / bandwidth + trips * costs.launch;
}

// The plain plan in the notation; empty if it cannot be written in it (a length without codelets).
fft::FftPlan plain_notation(const Problem& problem, const DeviceTraits& traits) {
  try {
    fft::EmitOptions options = notation_options(problem);
    options.device = traits;
    return fft::plain_plan(options);
  } catch (const Error&) {
    return {};
  }
}

}  // namespace

Cost gpu_fft_estimate(const Plan& plan, const Problem& problem, const DeviceTraits& traits) {
  return gpu_fft_estimate(plan, problem, traits, fft::fft_costs(traits));
}

Cost gpu_fft_estimate(const Plan& plan, const Problem& problem, const DeviceTraits& traits,
                      const fft::FftCosts& costs) {
  Cost cost;
  fft::FftPlan notation;
  const GpuFftChoice& choice = plan.gpu().fft;
  if (choice.family == GpuFftFamily::interleaved) notation = choice.plan;
  if (choice.family == GpuFftFamily::plain) notation = plain_notation(problem, traits);
  if (notation.kernels.empty()) {
    cost.execute = by_traffic(problem, traits, costs);
    cost.bytes = array_bytes(problem);
  } else {
    cost.execute = share(problem, costs) * fft::plan_seconds(notation, traits, problem.batch, costs);
    cost.bytes = fft::uses_workspace(notation) ? array_bytes(problem) : 0;
  }
  return cost;
}

double gpu_fft_floor_seconds(const Plan& plan, const Problem& problem, const DeviceTraits& traits) {
  // Nothing is known about the library: it might move everything once.
  if (plan.gpu().fft.family != GpuFftFamily::interleaved || problem.fft_type != FftType::c2c) return 0;
  return fft::floors(plan.gpu().fft.plan, traits, problem.batch).total;
}

}  // namespace fourtune::generator
