// The plans that could solve a problem on a device, and what each is expected to cost.
#pragma once

#include <string>

#include "fourtune/device_traits.h"
#include "fourtune/problem.h"
#include "generator/plan/plan.h"
#include "generator/planner/planner.h"

namespace fourtune::generator {

// Everything worth trying. A problem without m (or k) is taken at density 1.
Space candidates(const Problem& problem, const DeviceTraits& traits);
// What runs when nothing was tuned, cheap to make (no measurement): of GPU FFTs a plan known from another device, the
// library or kernels for any size; else the cost model's choice. `why`, if given, is set to which of them and what made
// it so, in words. Throws Error{tolerance_unreachable | unsupported} where no family takes the problem.
Plan default_plan(const Problem& problem, const DeviceTraits& traits, std::string* why = nullptr);
// The plan of a neighbouring problem (same kind, type, dimension and precision) made to fit this one: its choices are
// kept, what follows from size and tolerance (width, fine grid, chunk, threads) is bound anew. Throws
// Error{invalid_plan} when that is impossible.
Plan adapt(const Plan& plan, const Problem& problem, const DeviceTraits& traits);
Cost estimate(const Plan& plan, const Problem& problem, const DeviceTraits& traits);
// Lower bound of execute (bytes and multiply-adds at the device's peak): a plan whose floor is above the best time is
// out.
double floor_seconds(const Plan& plan, const Problem& problem, const DeviceTraits& traits);

}  // namespace fourtune::generator
