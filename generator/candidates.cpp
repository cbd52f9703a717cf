// The table of planners.
#include "generator/candidates.h"

#include <algorithm>

#include "generator/plan/summation.h"
#include "generator/planner/cpu/planner.h"
#include "generator/planner/gpu_fft/planner.h"
#include "generator/planner/gpu_nufft/planner.h"

namespace fourtune::generator {
namespace {

struct Entry {
  bool gpu;
  Kind kind;
  const Planner& planner;
};
constexpr Entry kPlanners[] = {{false, Kind::fft, cpu_fft_planner},
                               {false, Kind::nufft, cpu_nufft_planner},
                               {true, Kind::fft, gpu_fft_planner},
                               {true, Kind::nufft, gpu_nufft_planner}};

const Planner& planner_of(const Problem& problem, const DeviceTraits& traits) {
  for (const Entry& entry : kPlanners)
    if (entry.gpu == is_gpu(traits.backend) && entry.kind == problem.kind) return entry.planner;
  throw Error(Status::internal, "no planner for this kind of problem");
}

bool same_kind(const Plan& plan, const DeviceTraits& traits) { return is_gpu(plan.backend) == is_gpu(traits.backend); }

}  // namespace

Space candidates(const Problem& problem, const DeviceTraits& traits) {
  return planner_of(problem, traits).candidates(problem, traits);
}
Plan default_plan(const Problem& problem, const DeviceTraits& traits, std::string* why) {
  return planner_of(problem, traits).default_plan(problem, traits, why);
}
Plan adapt(const Plan& plan, const Problem& problem, const DeviceTraits& traits) {
  if (!same_kind(plan, traits))
    throw Error(Status::invalid_plan, "the plan is for backend '" + plan.backend + "', not for " + traits.backend);
  return planner_of(problem, traits).adapt(plan, problem, traits);
}
Plan reproducible(const Plan& plan, const Problem& problem, const DeviceTraits& traits) {
  if (problem.kind == Kind::fft || !is_gpu(plan.backend) || plan.type3 == Type3Rule::gaussian) return plan;
  const auto digits_left = [&](const Plan& one) {
    double magnified = magnification(one.window, problem.dim);
    if (problem.type == 3) magnified *= magnification(one.inner, problem.dim);
    return fixed_point_rounding(problem, one.window) * magnified <=
           std::max(0.5 * problem.tol, 8 * epsilon(problem.precision));
  };
  if (digits_left(plan)) return plan;
  Plan best = plan;
  for (const double sigma : {1.375, 1.5, 1.75, 2.0}) {
    if (sigma <= plan.window.sigma) continue;
    Plan wider = plan;
    wider.window.sigma = sigma;
    try {
      best = adapt(wider, problem, traits);
    } catch (const Error&) {  // no such plan
      continue;
    }
    if (digits_left(best)) break;
  }
  return best;
}
Cost estimate(const Plan& plan, const Problem& problem, const DeviceTraits& traits) {
  // A forced plan may be for another kind of device, which binding refuses. Until then default stages stand in.
  if (!same_kind(plan, traits)) {
    Plan usual = plan;
    usual.backend = traits.backend;
    usual.stages = plan_for(traits.backend).stages;
    return estimate(usual, problem, traits);
  }
  return planner_of(problem, traits).estimate(plan, problem, traits);
}
double floor_seconds(const Plan& plan, const Problem& problem, const DeviceTraits& traits) {
  if (!same_kind(plan, traits)) return 0;
  return planner_of(problem, traits).floor_seconds(plan, problem, traits);
}

}  // namespace fourtune::generator
