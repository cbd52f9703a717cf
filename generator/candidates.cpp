// The table of planners.
#include "generator/candidates.h"

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
