// Chooses the plan that a case is tried with.
#pragma once

#include <cstdint>
#include <string>

#include "fourtune/device_traits.h"
#include "tools/soak/case.h"

namespace fourtune::tools {

enum class PlanKind {
  untuned,    // the plan that the library chooses by default
  candidate,  // any plan that the tuner would measure, and published methods of a GPU that it would not
  adapted,    // made for a neighbouring problem and adapted, as the library does with a stored plan
  shipped,    // found, and adapted if need be, in the packs that come with the library
  given,      // given by the user
};
const char* to_string(PlanKind kind) noexcept;

// The text of a candidate, an adapted or a shipped plan; empty if there is none (nothing to adapt). Throws what the
// generator throws for a valid problem, which is then a finding.
std::string draw_plan(const SoakCase& one, PlanKind kind, const DeviceTraits& traits, std::uint64_t seed);
// The plan of one case, adapted to another case. Throws Error{invalid_plan} if that is impossible.
std::string adapted_plan(const SoakCase& from, const std::string& plan, const SoakCase& to, const DeviceTraits& traits);
// The factor by which a result of such a plan may exceed the bound without being a failure. The tuner's candidates
// include windows slightly narrower than the tolerance requires, and the tuner drops those with wrong results; those of
// a paper's type 3 may be far off by design.
double slack_of(const SoakCase& one, PlanKind kind, const std::string& plan);

}  // namespace fourtune::tools
