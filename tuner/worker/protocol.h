// The messages between a tuning session and its worker: JSON, one line per message, without line breaks inside.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "fourtune/device_traits.h"
#include "tuner/measure/evaluator.h"

namespace fourtune::tuner::protocol {

using Json = nlohmann::json;

// Byte sequences that are not UTF-8 (for example in a library's message) are replaced; they never cause an exception.
std::string to_line(const Json& message);

Json from_traits(const DeviceTraits& traits);
DeviceTraits to_traits(const Json& json);
Json from_spent(const Spent& spent);
Spent to_spent(const Json& json);
Json from_request(const EvaluationRequest& request);
EvaluationRequest to_evaluation_request(const Json& json);
Json from_evaluation(const Evaluation& evaluation);
Evaluation to_evaluation(const Json& json);
Json from_request(const FinalsRequest& request);
FinalsRequest to_finals_request(const Json& json);
Json from_finals(const FinalsResult& result);
FinalsResult to_finals(const Json& json);
// The to_* functions throw nlohmann::json::exception when a message does not have the expected form, or Error for an
// unknown status.

}  // namespace fourtune::tuner::protocol
