// Shrinks a failing case: fewer points, smaller sizes, one transform, no options, as long as it fails the same way.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "tools/soak/plan.h"
#include "tools/soak/run.h"

namespace fourtune::tools {

// A case, the plan it ran with, and the outcome.
struct TriedCase {
  SoakCase one;
  PlanKind kind = PlanKind::untuned;
  std::string plan;  // empty for kind untuned
  SoakOutcome outcome;
};

// The functions of a worker that shrinking uses.
struct ShrinkTools {
  std::function<SoakOutcome(const SoakCase&, PlanKind, const std::string& plan)> try_case;
  // The plan of one case, adapted to another case; empty if that is impossible.
  std::function<std::string(const SoakCase& from, const std::string& plan, const SoakCase& to)> adapt;
};
struct ShrinkLimits {
  double seconds = 60;
  int tries = 200;
  const std::atomic<bool>* stop = nullptr;
};

// Never makes the case larger. A case that no longer fails is returned unchanged.
TriedCase made_small(TriedCase trial, const ShrinkTools& tools, const ShrinkLimits& limits);

// Cases that are one step simpler than this one, those that save most first. All are valid.
std::vector<SoakCase> simpler_cases(const SoakCase& one);

}  // namespace fourtune::tools
