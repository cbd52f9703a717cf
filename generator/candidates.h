// The plans that could solve a problem on a device, and what each is expected to cost.
#pragma once

#include <string>
#include <vector>

#include "fourtune/device_traits.h"
#include "fourtune/problem.h"
#include "generator/plan.h"

namespace fourtune::generator {

struct Candidate {
  Plan plan;
  std::vector<int> coordinates;  // one index an axis of its Space; neighbours differ in one axis
  double estimate = 0;           // seconds of one execute by the cost model
};

// A search space: the Cartesian neighbourhood structure that strategies walk, already pruned by DeviceTraits. Plans are
// distinct and in a fixed order for the same arguments.
struct Space {
  std::vector<std::string> axes;
  std::vector<Candidate> candidates;
};

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
// Seconds one execute (and one set_points) is expected to take; a model, tested for direction only.
struct Cost {
  double execute = 0;
  double set_points = 0;
  double bytes = 0;  // memory held
};
Cost estimate(const Plan& plan, const Problem& problem, const DeviceTraits& traits);
// Lower bound of execute (bytes and multiply-adds at the device's peak): a plan whose floor is above the best time is
// out.
double floor_seconds(const Plan& plan, const Problem& problem, const DeviceTraits& traits);

}  // namespace fourtune::generator
