#include "tuner/protocol.h"

namespace fourtune::tuner::protocol {
namespace {

Json from_stages(const std::vector<db::StageNs>& stages) {
  Json json = Json::array();
  for (const auto& stage : stages) json.push_back({stage.stage, stage.ns});
  return json;
}
std::vector<db::StageNs> to_stages(const Json& json) {
  std::vector<db::StageNs> stages;
  for (const Json& stage : json) stages.push_back({stage.at(0).get<std::string>(), stage.at(1).get<std::int64_t>()});
  return stages;
}

Json from_options(const BenchmarkOptions& options) {
  return {{"min_sample", options.min_sample_seconds},
          {"interval", options.relative_interval},
          {"min_samples", options.min_samples},
          {"max_samples", options.max_samples},
          {"max_seconds", options.max_seconds},
          {"race_margin", options.race_margin},
          {"cold", options.cold}};
}
BenchmarkOptions to_options(const Json& json) {
  BenchmarkOptions options;
  json.at("min_sample").get_to(options.min_sample_seconds);
  json.at("interval").get_to(options.relative_interval);
  json.at("min_samples").get_to(options.min_samples);
  json.at("max_samples").get_to(options.max_samples);
  json.at("max_seconds").get_to(options.max_seconds);
  json.at("race_margin").get_to(options.race_margin);
  json.at("cold").get_to(options.cold);
  return options;
}

}  // namespace

std::string to_line(const Json& message) { return message.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n'; }

Json from_traits(const DeviceTraits& traits) {
  return {{"backend", traits.backend},   {"name", traits.name},
          {"isa", traits.isa},           {"cores", traits.cores},
          {"l1_bytes", traits.l1_bytes}, {"l2_bytes", traits.l2_bytes},
          {"l3_bytes", traits.l3_bytes}, {"memory_bytes", traits.memory_bytes}};
}
DeviceTraits to_traits(const Json& json) {
  DeviceTraits traits;
  json.at("backend").get_to(traits.backend);
  json.at("name").get_to(traits.name);
  json.at("isa").get_to(traits.isa);
  json.at("cores").get_to(traits.cores);
  json.at("l1_bytes").get_to(traits.l1_bytes);
  json.at("l2_bytes").get_to(traits.l2_bytes);
  json.at("l3_bytes").get_to(traits.l3_bytes);
  json.at("memory_bytes").get_to(traits.memory_bytes);
  return traits;
}

Json from_request(const EvaluationRequest& request) {
  return {{"op", "evaluate"},
          {"plan", request.plan},
          {"wisdom", request.wisdom},
          {"benchmark", from_options(request.benchmark)},
          {"incumbent_seconds", request.incumbent_seconds},
          {"timeout_seconds", request.timeout_seconds}};
}
EvaluationRequest to_evaluation_request(const Json& json) {
  EvaluationRequest request;
  json.at("plan").get_to(request.plan);
  json.at("wisdom").get_to(request.wisdom);
  request.benchmark = to_options(json.at("benchmark"));
  json.at("incumbent_seconds").get_to(request.incumbent_seconds);
  json.at("timeout_seconds").get_to(request.timeout_seconds);
  return request;
}

Json from_evaluation(const Evaluation& evaluation) {
  Json json{{"status", db::to_string(evaluation.status)}, {"samples_ns", evaluation.samples_ns},
            {"raced_out", evaluation.raced_out},          {"set_points_seconds", evaluation.set_points_seconds},
            {"plan_seconds", evaluation.plan_seconds},    {"cost_seconds", evaluation.cost_seconds},
            {"stages", from_stages(evaluation.stages)},   {"wisdom", evaluation.wisdom},
            {"memory_bytes", evaluation.memory_bytes},    {"message", evaluation.message}};
  if (evaluation.error) json["error"] = *evaluation.error;
  return json;
}
Evaluation to_evaluation(const Json& json) {
  Evaluation evaluation;
  evaluation.status = db::run_status_from(json.at("status").get<std::string>());
  if (json.contains("error")) evaluation.error = json.at("error").get<double>();
  json.at("samples_ns").get_to(evaluation.samples_ns);
  json.at("raced_out").get_to(evaluation.raced_out);
  json.at("set_points_seconds").get_to(evaluation.set_points_seconds);
  json.at("plan_seconds").get_to(evaluation.plan_seconds);
  json.at("cost_seconds").get_to(evaluation.cost_seconds);
  evaluation.stages = to_stages(json.at("stages"));
  json.at("wisdom").get_to(evaluation.wisdom);
  json.at("memory_bytes").get_to(evaluation.memory_bytes);
  json.at("message").get_to(evaluation.message);
  return evaluation;
}

Json from_request(const FinalsRequest& request) {
  return {{"op", "finals"},
          {"plans", request.plans},
          {"wisdom", request.wisdom},
          {"benchmark", from_options(request.benchmark)},
          {"seconds", request.seconds},
          {"min_rounds", request.min_rounds},
          {"max_rounds", request.max_rounds},
          {"seed", request.seed},
          {"timeout_seconds", request.timeout_seconds}};
}
FinalsRequest to_finals_request(const Json& json) {
  FinalsRequest request;
  json.at("plans").get_to(request.plans);
  json.at("wisdom").get_to(request.wisdom);
  request.benchmark = to_options(json.at("benchmark"));
  json.at("seconds").get_to(request.seconds);
  json.at("min_rounds").get_to(request.min_rounds);
  json.at("max_rounds").get_to(request.max_rounds);
  json.at("seed").get_to(request.seed);
  json.at("timeout_seconds").get_to(request.timeout_seconds);
  return request;
}

Json from_finals(const FinalsResult& result) {
  Json stages = Json::array();
  for (const auto& list : result.stages) stages.push_back(from_stages(list));
  return {{"status", db::to_string(result.status)}, {"message", result.message}, {"culprit", result.culprit},
          {"samples_ns", result.samples_ns},        {"stages", stages},          {"cost_seconds", result.cost_seconds}};
}
FinalsResult to_finals(const Json& json) {
  FinalsResult result;
  result.status = db::run_status_from(json.at("status").get<std::string>());
  json.at("message").get_to(result.message);
  json.at("culprit").get_to(result.culprit);
  json.at("samples_ns").get_to(result.samples_ns);
  for (const Json& list : json.at("stages")) result.stages.push_back(to_stages(list));
  json.at("cost_seconds").get_to(result.cost_seconds);
  return result;
}

}  // namespace fourtune::tuner::protocol
