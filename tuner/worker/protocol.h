// The messages between a tuning session and its worker, as JSON: one line each, no line break inside.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "fourtune/device_traits.h"
#include "tuner/measure/evaluator.h"

namespace fourtune::tuner::protocol {

using Json = nlohmann::json;

// Byte sequences that are not UTF-8 (of a library's message, say) are replaced, never thrown about.
std::string to_line(const Json& message);

Json from_traits(const DeviceTraits& traits);
DeviceTraits to_traits(const Json& json);
Json from_request(const EvaluationRequest& request);
EvaluationRequest to_evaluation_request(const Json& json);
Json from_evaluation(const Evaluation& evaluation);
Evaluation to_evaluation(const Json& json);
Json from_request(const FinalsRequest& request);
FinalsRequest to_finals_request(const Json& json);
Json from_finals(const FinalsResult& result);
FinalsResult to_finals(const Json& json);
// to_* throw nlohmann::json::exception, or Error for an unknown status, when a message has not the expected form.

}  // namespace fourtune::tuner::protocol
