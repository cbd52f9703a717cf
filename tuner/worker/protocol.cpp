#include "tuner/worker/protocol.h"

#include <optional>

#include "base/json_text.h"

// The fields of each message, by name. The functions that the macros define are found by argument-dependent lookup.

template <>
struct nlohmann::adl_serializer<std::optional<double>> {
  static void to_json(nlohmann::json& json, const std::optional<double>& value) {
    value ? json = *value : json = nullptr;
  }
  static void from_json(const nlohmann::json& json, std::optional<double>& value) {
    value = json.is_null() ? std::nullopt : std::optional(json.get<double>());
  }
};

namespace fourtune {
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(DeviceRates, flops32, flops64, load, store, copy_near, copy_far, atomics32,
                                   atomics64, copy_all, clock, launch)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(DeviceTraits, backend, name, isa, cores, l1_bytes, l2_bytes, l3_bytes, memory_bytes,
                                   compute_capability, multiprocessors, threads_per_multiprocessor,
                                   registers_per_multiprocessor, shared_per_multiprocessor, shared_per_block,
                                   cluster_blocks, clock_hz, memory_bandwidth, rates)
}  // namespace fourtune

namespace fourtune::db {
inline void to_json(nlohmann::json& json, RunStatus status) { json = to_string(status); }
inline void from_json(const nlohmann::json& json, RunStatus& status) {
  status = run_status_from(json.get<std::string>());
}
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(StageNs, stage, ns)
}  // namespace fourtune::db

namespace fourtune::tuner {
inline void to_json(nlohmann::json& json, const Spent& spent) { json = spent.seconds; }
inline void from_json(const nlohmann::json& json, Spent& spent) { json.get_to(spent.seconds); }
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(BusyCount, samples, disturbed)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(BenchmarkOptions, min_sample_seconds, relative_interval, min_samples, max_samples,
                                   max_seconds, race_margin, cold, energy_seconds, cpu_time)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(EvaluationRequest, plan, wisdom, benchmark, incumbent_seconds, timeout_seconds,
                                   adjoint, energy)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Evaluation, status, error, samples_ns, busy, unsure, raced_out, set_points_seconds,
                                   plan_seconds, cost_seconds, spent, stages, wisdom, memory_bytes, kernels, state,
                                   repeats, slowed, joules, message)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(FinalsRequest, plans, wisdom, benchmark, seconds, min_rounds, max_rounds, seed,
                                   timeout_seconds, energy)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(FinalsResult, status, message, culprit, samples_ns, busy, stages, kernels, energy_nj,
                                   state, repeats, slowed, cost_seconds, spent)
}  // namespace fourtune::tuner

namespace fourtune::tuner::protocol {
namespace {

template <class Request>
Json named(const char* operation, const Request& request) {
  Json json = request;
  json["op"] = operation;
  return json;
}

}  // namespace

std::string to_line(const Json& message) { return json_line(message) + '\n'; }

Json from_traits(const DeviceTraits& traits) { return traits; }
DeviceTraits to_traits(const Json& json) { return json.get<DeviceTraits>(); }
Json from_spent(const Spent& spent) { return spent; }
Spent to_spent(const Json& json) { return json.get<Spent>(); }
Json from_request(const EvaluationRequest& request) { return named("evaluate", request); }
EvaluationRequest to_evaluation_request(const Json& json) { return json.get<EvaluationRequest>(); }
Json from_evaluation(const Evaluation& evaluation) { return evaluation; }
Evaluation to_evaluation(const Json& json) { return json.get<Evaluation>(); }
Json from_request(const FinalsRequest& request) { return named("finals", request); }
FinalsRequest to_finals_request(const Json& json) { return json.get<FinalsRequest>(); }
Json from_finals(const FinalsResult& result) { return result; }
FinalsResult to_finals(const Json& json) { return json.get<FinalsResult>(); }

}  // namespace fourtune::tuner::protocol
