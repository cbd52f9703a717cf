// The plans that could solve a problem on a device, and the expected cost of each.
#pragma once

#include <string>

#include "fourtune/device_traits.h"
#include "fourtune/problem.h"
#include "generator/plan/plan.h"
#include "generator/planner/planner.h"

namespace fourtune::generator {

// Everything worth trying. A problem without m (or k) is assumed to have density 1.
Space candidates(const Problem& problem, const DeviceTraits& traits);
// The plan that runs when nothing was tuned; it is cheap to make and measures nothing. For GPU FFTs it is a plan known
// from another device, the library, or kernels for any size; for other problems, the cost model's choice. `why`, if
// given, is set to a text that names the source and the reason. Throws Error{tolerance_unreachable | unsupported} if no
// family supports the problem.
Plan default_plan(const Problem& problem, const DeviceTraits& traits, std::string* why = nullptr);
// Adapts the plan of a neighbouring problem (same kind, type, dimension and precision) to this one. The plan's choices
// are kept; what follows from size and tolerance (width, fine grid, chunk, threads) is bound again. Throws
// Error{invalid_plan} if that is impossible.
Plan adapt(const Plan& plan, const Problem& problem, const DeviceTraits& traits);
Cost estimate(const Plan& plan, const Problem& problem, const DeviceTraits& traits);
// Lower bound on the time of execute (bytes and multiply-adds at the device's peak): a plan whose bound is above the
// best time cannot win.
double floor_seconds(const Plan& plan, const Problem& problem, const DeviceTraits& traits);

}  // namespace fourtune::generator
