#include "db/recorded_space.h"

#include <fmt/format.h>

#include <istream>
#include <nlohmann/json.hpp>
#include <ostream>
#include <unordered_set>

#include "base/json_text.h"

namespace fourtune::db {
namespace {

using nlohmann::json;

constexpr int kFormat = 1;

[[noreturn]] void bad_line(int line, const std::string& what) {
  throw Error(Status::io, fmt::format("recorded space, line {}: {}", line, what));
}

// The environment's keys and fields, in the order in which they are written.
constexpr std::pair<const char*, std::string Environment::*> kPieces[] = {
    {"backend", &Environment::backend},     {"device", &Environment::device},      {"isa", &Environment::isa},
    {"traits", &Environment::traits},       {"driver", &Environment::driver},      {"compiler", &Environment::compiler},
    {"libraries", &Environment::libraries}, {"generator", &Environment::generator}};

std::string text_of(const json& object, const char* key, int line) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_string()) bad_line(line, fmt::format("needs a text \"{}\"", key));
  return found->get<std::string>();
}

RecordedSpace read_head(const json& object, int line) {
  const auto format = object.find("fourtune_space");
  if (format == object.end() || *format != kFormat) {
    bad_line(line, fmt::format("must be the head, with \"fourtune_space\":{}", kFormat));
  }
  RecordedSpace space;
  space.problem = text_of(object, "problem", line);
  const auto environment = object.find("environment");
  if (environment == object.end() || !environment->is_object()) bad_line(line, "needs an object \"environment\"");
  for (const auto& [key, member] : kPieces) space.environment.*member = text_of(*environment, key, line);
  return space;
}

RecordedPlan read_plan(const json& object, int line) {
  RecordedPlan plan;
  plan.plan = text_of(object, "plan", line);
  try {
    plan.status = run_status_from(text_of(object, "status", line));
  } catch (const StoreError& error) {
    bad_line(line, error.what());
  }
  if (const auto error = object.find("error"); error != object.end()) {
    if (!error->is_number()) bad_line(line, "\"error\" must be a number");
    plan.error = error->get<double>();
  }
  const auto samples = object.find("samples_ns");
  if (samples == object.end() || !samples->is_array()) bad_line(line, "needs a list \"samples_ns\"");
  for (const auto& sample : *samples) {
    if (!sample.is_number_integer()) bad_line(line, "\"samples_ns\" must hold whole numbers");
    plan.samples_ns.push_back(sample.get<std::int64_t>());
  }
  return plan;
}

}  // namespace

RecordedSpace record_space(const TuningStore& store, std::string_view problem, const Environment& environment) {
  RecordedSpace space{std::string(problem), environment, {}};
  for (PlanHistory& plan : store.history(problem, environment)) {
    const RunStatus status = plan.ok_runs > 0 ? RunStatus::ok : plan.last_status;
    space.plans.push_back({std::move(plan.plan), status, plan.worst_error, std::move(plan.samples_ns)});
  }
  return space;
}

void write_space(std::ostream& out, const RecordedSpace& space) {
  // The library's objects sort their keys, and lines begin with the key that people look for.
  std::string environment;
  for (const auto& [key, member] : kPieces)
    environment +=
        fmt::format("{}\"{}\":{}", environment.empty() ? "" : ",", key, json_line(space.environment.*member));
  out << fmt::format("{{\"fourtune_space\":{},\"problem\":{},\"environment\":{{{}}}}}\n", kFormat,
                     json_line(space.problem), environment);
  for (const RecordedPlan& plan : space.plans) {
    const std::string error = plan.error ? fmt::format(",\"error\":{}", json_line(*plan.error)) : "";
    out << fmt::format("{{\"plan\":{},\"status\":{}{},\"samples_ns\":{}}}\n", json_line(plan.plan),
                       json_line(to_string(plan.status)), error, json_line(plan.samples_ns));
  }
  out.flush();
  if (!out) throw Error(Status::io, "recorded space could not be written");
}

RecordedSpace read_space(std::istream& in) {
  std::optional<RecordedSpace> space;
  std::unordered_set<std::string> seen;
  std::string text;
  for (int line = 1; std::getline(in, text); ++line) {
    if (text.empty()) continue;
    const json object = parse_json(text);
    if (!object.is_object()) bad_line(line, "is not a JSON object");
    if (!space) {
      space = read_head(object, line);
      continue;
    }
    space->plans.push_back(read_plan(object, line));
    if (!seen.insert(space->plans.back().plan).second) bad_line(line, "has a plan that came before");
  }
  if (in.bad()) throw Error(Status::io, "recorded space could not be read");
  if (!space) bad_line(1, "is missing: the file is empty");
  return std::move(*space);
}

}  // namespace fourtune::db
