// The functions that a planner provides for one kind of transform on one kind of device. generator/candidates.h has the
// table of planners.
#pragma once

#include <string>
#include <vector>

#include "fourtune/device_traits.h"
#include "fourtune/problem.h"
#include "generator/plan/plan.h"

namespace fourtune::generator {

struct Candidate {
  Plan plan;
  std::vector<int> coordinates;  // one index per axis of its Space; neighbours differ in one axis
  double estimate = 0;           // seconds per execute by the cost model
};

// A search space: the Cartesian neighbourhood structure that strategies walk, already pruned by DeviceTraits. Plans are
// distinct, and their order is the same for the same arguments.
struct Space {
  std::vector<std::string> axes;
  std::vector<Candidate> candidates;
};

// Expected seconds for one execute and one set_points. Tests check only the direction of the model.
struct Cost {
  double execute = 0;
  double set_points = 0;
  double bytes = 0;  // bytes of memory held
};

// The functions of generator/candidates.h for the problems and devices of one planner.
struct Planner {
  Space (*candidates)(const Problem& problem, const DeviceTraits& traits);
  Plan (*default_plan)(const Problem& problem, const DeviceTraits& traits, std::string* why);
  Plan (*adapt)(const Plan& plan, const Problem& problem, const DeviceTraits& traits);
  Cost (*estimate)(const Plan& plan, const Problem& problem, const DeviceTraits& traits);
  double (*floor_seconds)(const Plan& plan, const Problem& problem, const DeviceTraits& traits);
};

}  // namespace fourtune::generator
