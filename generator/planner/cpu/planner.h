// Plans for CPUs: candidates.cpp lists them, cost_model.cpp and type3_cost.cpp estimate their cost.
#pragma once

#include "generator/planner/planner.h"

namespace fourtune::generator {

extern const Planner cpu_fft_planner, cpu_nufft_planner;

Cost cpu_estimate(const Plan& plan, const Problem& problem, const DeviceTraits& traits);
double cpu_floor_seconds(const Plan& plan, const Problem& problem, const DeviceTraits& traits);
// As cpu_estimate(), for a problem of type 3. Without extents, the points are assumed to fill pi/2 k^(1/dim) in each
// dimension.
Cost type3_cost(const Plan& plan, const Problem& problem, const DeviceTraits& traits, double threads);

}  // namespace fourtune::generator
