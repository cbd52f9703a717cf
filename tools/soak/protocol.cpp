#include "tools/soak/protocol.h"

#include <cmath>

#include "base/json_text.h"
#include "tools/common/errors.h"

namespace fourtune::tools {

using Json = nlohmann::json;

std::string to_line(const Json& message) { return json_line(message) + "\n"; }

// NaN and infinity become null.
Json from_outcome(const SoakOutcome& outcome) {
  return {{"failure", outcome.failure},
          {"text", outcome.message},
          {"refused", outcome.refused},
          {"plan", outcome.plan},
          {"figures",
           {outcome.error, outcome.allowed, outcome.mismatch, outcome.repeat, outcome.create_seconds,
            outcome.set_points_seconds, outcome.execute_seconds}},
          {"bytes", {outcome.held, outcome.promised}}};
}

SoakOutcome to_outcome(const Json& json) {
  SoakOutcome outcome;
  outcome.failure = json.value("failure", std::string());
  outcome.message = json.value("text", std::string());
  outcome.refused = json.value("refused", std::string());
  outcome.plan = json.value("plan", std::string());
  if (!json.contains("figures")) return outcome;
  double* const figures[] = {&outcome.error,          &outcome.allowed,        &outcome.mismatch,
                             &outcome.repeat,         &outcome.create_seconds, &outcome.set_points_seconds,
                             &outcome.execute_seconds};
  for (std::size_t i = 0; i < std::size(figures); ++i)
    *figures[i] = json.at("figures").at(i).is_number() ? json.at("figures").at(i).get<double>() : NAN;
  outcome.held = json.at("bytes").at(0).get<std::int64_t>();
  outcome.promised = json.at("bytes").at(1).get<std::int64_t>();
  return outcome;
}

PlanKind plan_kind_from(const std::string& text) {
  for (const PlanKind kind :
       {PlanKind::untuned, PlanKind::candidate, PlanKind::adapted, PlanKind::shipped, PlanKind::given})
    if (text == to_string(kind)) return kind;
  throw UsageError("'" + text + "' is not a kind of plan");
}

}  // namespace fourtune::tools
