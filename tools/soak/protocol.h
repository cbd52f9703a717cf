// Outcomes as JSON, exchanged between a soak worker and its parent.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "tools/soak/plan.h"
#include "tools/soak/run.h"

namespace fourtune::tools {

// Returns one line; bytes that are not UTF-8 are replaced.
std::string to_line(const nlohmann::json& message);
nlohmann::json from_outcome(const SoakOutcome& outcome);
SoakOutcome to_outcome(const nlohmann::json& json);
PlanKind plan_kind_from(const std::string& text);

}  // namespace fourtune::tools
