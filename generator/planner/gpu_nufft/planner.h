// Plans for nonuniform transforms on GPUs: candidates.cpp lists them, cost.cpp estimates their cost.
#pragma once

#include <string>
#include <vector>

#include "generator/planner/gpu_nufft/gridding.h"
#include "generator/planner/planner.h"

namespace fourtune::generator {

extern const Planner gpu_nufft_planner;

Space gpu_nufft_candidates(const Problem& problem, const DeviceTraits& traits);
Plan gpu_nufft_default_plan(const Problem& problem, const DeviceTraits& traits, std::string* why = nullptr);
Plan gpu_nufft_adapt(const Plan& plan, const Problem& problem, const DeviceTraits& traits);
// What an execute of all transforms of the problem does: the estimate is its price.
struct TimedWork {
  gpu_nufft::Work work;
  double times = 1;
};
std::vector<TimedWork> gpu_nufft_work(const Plan& plan, const Problem& problem, const DeviceTraits& traits);
Cost gpu_nufft_estimate(const Plan& plan, const Problem& problem, const DeviceTraits& traits);
double gpu_nufft_floor_seconds(const Plan& plan, const Problem& problem, const DeviceTraits& traits);

}  // namespace fourtune::generator
