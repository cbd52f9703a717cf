// The untuned choice: the plain plan, the cost model's best of a short enumeration, or the library.
#include <algorithm>
#include <optional>

#include "base/layout.h"
#include "generator/codegen/fft/any_length/convolved.h"
#include "generator/plan/fft/geometry.h"
#include "generator/planner/gpu_fft/families.h"
#include "generator/planner/gpu_fft/fitted_plan.h"
#include "generator/planner/gpu_fft/plan_cost.h"
#include "generator/planner/gpu_fft/planner.h"
#include "generator/planner/gpu_fft/program.h"

namespace fourtune::generator {
namespace {

// The library is the default for dense arrays only.
bool library_takes(const Problem& problem) { return !problem.input_layout && !problem.output_layout; }

// Whether the arrays of the plain plan together exceed the L2 cache. Then bandwidth decides, which the cost model knows
// well; below it latency does, which it knows to within a fifth.
bool past_cache(const Problem& problem, const Cost& plain, const DeviceTraits& traits) {
  const auto bytes = [&](bool input) {
    const bool real = problem.fft_type == (input ? FftType::r2c : FftType::c2r);
    return static_cast<double>(element_count(input ? input_sizes(problem) : output_sizes(problem))) *
           static_cast<double>(problem.batch * real_bytes(problem.precision) * (real ? 1 : 2));
  };
  const double both = problem.place == Place::in ? std::max(bytes(true), bytes(false)) : bytes(true) + bytes(false);
  return both + plain.bytes > static_cast<double>(traits.l2_bytes);
}

// Few of each kind, so that an enumeration takes milliseconds. Copies ahead of time took up to twice their estimates
// (on an H100, one plan of four), plain loads 0.9 to 1.0 times.
fft::EnumerationLimits short_list() {
  fft::EnumerationLimits out;
  out.plans = 8, out.plans_per_group = 1, out.extra_kernels = 0, out.groupings = 6;
  out.shapes = 6, out.choices = 1, out.block_orders = 0, out.slack = 1.3;
  out.forms.bulk = out.forms.async = false;
  return out;
}

// Limits registers per thread in the kernels of which one more block then fits a multiprocessor, where the estimates
// expect something of that: a line that fills a block has no other block to compute while it loads, and a few blocks
// more than fit at once take as long as twice as many. Whether any kernel has changed. Single kernels took 0.96 of
// their time so (180 pairs of plans on an H100), of several kernels 1.00 in f32 and 1.02 in f64.
bool tighten(Plan& plan, const Problem& problem, const DeviceTraits& traits) {
  const auto seconds = [&] { return gpu_fft_estimate(plan, problem, traits).execute; };
  // Kernels of 50 to 60 values' registers with 14 to 20 beside them spill 12 bytes at most (NVRTC 13.0, sm_90).
  const int spare = 14 * static_cast<int>(real_bytes(problem.precision) / 4);
  fft::FftPlan& notation = plan.gpu().fft.plan;
  bool changed = false;
  for (std::size_t k = 0; k < notation.kernels.size(); ++k) {
    int& registers = notation.kernels[k].with.registers;
    const int free = registers, limited = tighter_registers(notation, k, spare, traits);
    if (free > 0 || limited == 0) continue;
    const double before = seconds();
    registers = limited;
    if (seconds() < before)
      changed = true;
    else
      registers = free;
  }
  return changed;
}

// The plain plan with limited registers, if that is worth something.
std::optional<Plan> crowded(const Problem& problem, const DeviceTraits& traits) {
  const bool moved = problem.fft_type != FftType::c2c && problem.n[0] == 1;
  if (moved || mode_count(problem) == 1 || !library_takes(problem) || !has_codelets(problem)) return {};
  fft::EmitOptions options = notation_options(problem);
  options.device = traits;
  if (fft::takes_half_lines(options) || fft::convolves(options)) return {};
  Plan plan = plan_of(traits, GpuFftFamily::interleaved);
  fft::FftPlan& notation = plan.gpu().fft.plan;
  notation = fft::parse_notation(fft::to_text(for_arrays(fft::fitted_plan(options, traits), options)));
  if (notation.kernels.size() > 1 || !tighten(plan, problem, traits) || !fft::check(notation, problem).empty() ||
      !fft::check_device(notation, traits).empty() || !why_not_both_ways(notation, options).empty())
    return {};
  return plan;
}

// The least estimate of a short enumeration, with clusters of up to `blocks`, among what has a program; nothing for
// arrays that need more than the notation says.
std::optional<Plan> enumerated(const Problem& problem, const DeviceTraits& traits, int blocks) {
  const bool moved = problem.fft_type != FftType::c2c && problem.n[0] == 1;
  if (moved || !library_takes(problem) || !has_codelets(problem)) return {};
  DeviceTraits steady = traits;
  steady.cluster_blocks = std::min(steady.cluster_blocks, blocks);
  fft::EmitOptions options = notation_options(problem);
  options.device = traits;
  std::optional<Plan> best;
  double least = 0;
  for (const fft::FftCandidate& candidate :
       fft::fft_candidates(request_of(problem, options), steady, short_list()).list) {
    Plan plan = plan_of(traits, GpuFftFamily::interleaved);
    // The parsed form, as a stored text gives it.
    plan.gpu().fft.plan =
        fft::parse_notation(fft::to_text(for_arrays(fft::facing(candidate.plan, problem.order), options)));
    const fft::FftPlan& notation = plan.gpu().fft.plan;
    const double seconds = gpu_fft_estimate(plan, problem, traits).execute;
    if ((best && seconds >= least) || !fft::check(notation, problem).empty() ||
        !fft::check_device(notation, traits).empty() || !why_not_both_ways(notation, options).empty())
      continue;
    best = plan, least = seconds;
  }
  if (best && best->gpu().fft.plan.kernels.size() == 1)
    if (Plan tight = *best; tighten(tight, problem, traits) && fft::check_device(tight.gpu().fft.plan, traits).empty())
      return tight;
  return best;
}

// Whether the plain plan has several kernels.
bool passes_several_times(const Problem& problem, const DeviceTraits& traits) {
  if (mode_count(problem) == 1 || !has_codelets(problem)) return false;
  fft::EmitOptions options = emit_options(problem);
  options.device = traits;
  return fft::plain_plan(options).kernels.size() > 1;
}

bool has_clusters(const Plan& plan) {
  const auto& kernels = plan.gpu().fft.plan.kernels;
  return std::any_of(kernels.begin(), kernels.end(), [](const fft::Kernel& kernel) { return kernel.with.cluster > 1; });
}

}  // namespace

Plan gpu_fft_default_plan(const Problem& problem, const DeviceTraits& traits, std::string* why) {
  const auto chosen = [&](Plan plan, const std::string& reason) {
    if (why) *why = reason;
    return plan;
  };
  const Plan library = plan_of(traits, GpuFftFamily::cufft), plain = plan_of(traits, GpuFftFamily::plain);
  const bool choice = gpu_fft_library_does(problem, traits) && library_takes(problem);
  try {
    check_gpu_fft(problem, plain, traits);
  } catch (const Error& error) {
    if (!choice) throw;
    return chosen(library, std::string("cuFFT, as no generated kernels take this problem: ") + error.what());
  }
  const auto cost = [&](const Plan& plan) { return gpu_fft_estimate(plan, problem, traits); };
  const Cost plains = cost(plain);
  const bool past = past_cache(problem, plains, traits);

  Plan best = plain;
  double least = plains.execute;
  std::string reason = "generated kernels that take any size";
  // Predictions are off by some per cent, more below the cache: what replaces the plain plan has to promise more.
  const auto consider = [&](const std::optional<Plan>& plan, double trusted, const char* words) {
    if (!plan) return;
    const double seconds = cost(*plan).execute / trusted;
    if (seconds < least) best = *plan, least = seconds, reason = words;
  };
  // The same kernel; those that gather neighbours took up to 1.2 times as long so (69 f32 x 243148 on an H200).
  constexpr double trusted_registers = 0.95;
  consider(crowded(problem, traits), trusted_registers, "the plain plan with registers for one more block");
  // The plain plan's last kernel stores a reversed spectrum in short runs.
  const bool reversed = problem.order != SpectrumOrder::natural;
  // Kernels of clusters took up to 1.7 times what was expected (18432 f64 x 199 on an H200: 92 us, and 53 expected).
  constexpr double trusted_plans = 0.97, trusted_real_plans = 0.94, trusted_lines = 0.8, trusted_clusters = 0.7;
  // Below the cache fewer kernels save launches.
  const bool several = passes_several_times(problem, traits), real = problem.fft_type != FftType::c2c;
  const double trusted = !several ? trusted_lines : real ? trusted_real_plans : trusted_plans;
  if (past || reversed || several) {
    constexpr const char* words = "the estimates' best of a short list of plans";
    // Clusters of two blocks took 1.1 to 1.3 times their estimates on an H100, of four and eight up to 3.3 times.
    const std::optional<Plan> listed = enumerated(problem, traits, 2);
    const bool clusters = listed && has_clusters(*listed);
    if (clusters) consider(listed, trusted_clusters, words);
    consider(clusters ? enumerated(problem, traits, 1) : listed, trusted, words);
  }
  // Few values take the library longer than its price (3402 f64 x 6 on an H100: 10.8 us, and 5.1 expected).
  if (choice) consider(library, past ? 0.9 : 0.65, "cuFFT, which the estimates expect to be the faster one");
  return chosen(std::move(best), reason);
}

}  // namespace fourtune::generator
