// Which plan a case is tried with.
#pragma once

#include <cstdint>
#include <string>

#include "fourtune/device_traits.h"
#include "tools/soak/case.h"

namespace fourtune::tools {

enum class PlanKind {
  untuned,    // what the library takes by itself
  candidate,  // any one of those that the tuner would measure
  adapted,    // made for a neighbouring problem and adapted, as the library does with a stored plan
  given,      // by hand
};
const char* to_string(PlanKind kind) noexcept;

// The text of a candidate or an adapted plan; empty where there is none (nothing to adapt). Throws what the generator
// throws for a valid problem: that is a finding.
std::string draw_plan(const SoakCase& one, PlanKind kind, const DeviceTraits& traits, std::uint64_t seed);
// A plan of one case made to fit another one. Throws Error{invalid_plan} where that cannot be.
std::string adapted_plan(const SoakCase& from, const std::string& plan, const SoakCase& to, const DeviceTraits& traits);
// How far above the bound a result of such a plan may be without being a failure. The tuner's candidates have windows a
// little narrower than the tolerance asks for, and drops those that turn out wrong; those of a paper's type 3 may be
// far off by design.
double slack_of(const SoakCase& one, PlanKind kind, const std::string& plan);

}  // namespace fourtune::tools
