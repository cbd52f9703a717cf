#include "tools/soak/plan.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>

#include "base/layout.h"
#include "db/lookup.h"
#include "generator/candidates.h"
#include "generator/plan/accuracy.h"
#include "generator/planner/gpu_nufft/published.h"
#include "runtime/plan_sources.h"
#include "runtime/resolve.h"

namespace fourtune::tools {
namespace {

using tuner::Random;

std::int64_t scaled(std::int64_t value, double factor, std::int64_t least) {
  return std::max(least, static_cast<std::int64_t>(std::llround(static_cast<double>(value) * factor)));
}
double factor(Random& random, double least, double most) {
  return std::exp(std::log(least) + random.uniform() * std::log(most / least));
}

// A problem whose stored plan the library might adapt to the given one.
Problem neighbour(const Problem& problem, Random& random) {
  Problem near = problem;
  near.input_layout.reset(), near.output_layout.reset();
  if (problem.kind == Kind::fft && problem.fft_type == FftType::c2c && random.uniform() < 0.3)
    near.order = adjoint_order(problem.order);
  for (int d = 0; d < problem.dim && !(problem.kind == Kind::nufft && problem.type == 3); ++d)
    if (std::int64_t& n = near.n[static_cast<std::size_t>(d)]; random.uniform() < 0.8)
      n = scaled(n, factor(random, 0.6, 1.6), std::min<std::int64_t>(n, 2));
  near.batch = random.uniform() < 0.5 ? near.batch : 1 + static_cast<std::int64_t>(random.below(8));
  if (problem.kind == Kind::fft) return near;
  near.m = scaled(*problem.m, factor(random, 0.4, 2.5), 1);
  if (problem.k) near.k = scaled(*problem.k, factor(random, 0.4, 2.5), 1);
  near.extent.reset();
  near.tol = std::clamp(problem.tol * factor(random, 0.1, 10), 4 * epsilon(problem.precision), 0.3);
  return near;
}

// A published method of a GPU that the tuner does not try, if the problem has one that meets its tolerance.
std::optional<generator::Plan> any_published(const Problem& problem, const DeviceTraits& traits, Random& random) {
  using generator::gpu_nufft::kPublished;
  auto plan = generator::gpu_nufft::published_plan(problem, traits, kPublished[random.below(std::size(kPublished))]);
  if (!plan || !generator::accuracy_fault(*plan, problem).empty()) return std::nullopt;
  plan->chunk = 1 + static_cast<int>(random.below(static_cast<std::uint64_t>(problem.batch)));
  return plan;
}

generator::Plan any_candidate(const Problem& problem, const DeviceTraits& traits, bool deterministic, Random& random) {
  constexpr double kPublishedShare = 0.1;
  const bool nufft_of_gpu = problem.kind == Kind::nufft && generator::is_gpu(traits.backend);
  if (nufft_of_gpu && !deterministic && random.uniform() < kPublishedShare)
    if (const auto plan = any_published(problem, traits, random)) return *plan;
  const generator::Space space = generator::candidates(problem, traits);
  // Rigor patient differs from measure in what FFTW tries alone.
  std::vector<const generator::Plan*> plans;
  for (const generator::Candidate& candidate : space.candidates)
    if (generator::is_gpu(traits.backend) || candidate.plan.cpu().fft.rigor != generator::Rigor::patient)
      plans.push_back(&candidate.plan);
  return plans.empty() ? generator::default_plan(problem, traits) : *plans[random.below(plans.size())];
}

}  // namespace

const char* to_string(PlanKind kind) noexcept {
  static constexpr const char* names[] = {"untuned", "candidate", "adapted", "shipped", "given"};
  return names[static_cast<int>(kind)];
}

std::string draw_plan(const SoakCase& one, PlanKind kind, const DeviceTraits& all, std::uint64_t seed) {
  Random random(seed);
  DeviceTraits traits = all;
  if (one.threads > 0) traits.cores = one.threads;
  const Problem problem = planned_problem(one);
  const auto text = [&](const generator::Plan& plan) { return generator::to_text(plan, problem); };
  if (kind == PlanKind::candidate) return text(any_candidate(problem, traits, one.deterministic, random));
  if (kind == PlanKind::shipped) {
    static const db::Lookup packs = db::Lookup::load({}, runtime::shipped_packs());
    const runtime::Resolution found = runtime::resolve(problem, traits, &packs, "");
    return found.source == runtime::Source::model ? std::string() : text(found.plan);
  }
  const Problem near = neighbour(problem, random);
  const bool tuned = random.uniform() < 0.5;
  const generator::Plan stored =
      tuned ? any_candidate(near, traits, one.deterministic, random) : generator::default_plan(near, traits);
  try {
    const generator::Plan plan = generator::adapt(stored, problem, traits);
    return generator::accuracy_fault(plan, problem).empty() ? text(plan) : std::string();
  } catch (const Error& error) {
    if (error.status() != Status::invalid_plan) throw;
    return {};  // the library passes such a plan over, as it does one whose window cannot meet the tolerance
  }
}

std::string adapted_plan(const SoakCase& from, const std::string& plan, const SoakCase& to,
                         const DeviceTraits& traits) {
  const generator::Plan parsed = generator::parse_plan(plan, planned_problem(from));
  return generator::to_text(generator::adapt(parsed, planned_problem(to), traits), planned_problem(to));
}

double slack_of(const SoakCase& one, PlanKind kind, const std::string& plan) {
  const bool paper =
      one.problem.kind == Kind::nufft && one.problem.type == 3 && plan.find("gaussian") != std::string::npos;
  if (paper) return 1e12;
  return kind == PlanKind::candidate ? 10 : 1;
}

}  // namespace fourtune::tools
