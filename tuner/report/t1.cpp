#include "tuner/report/t1.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "base/json_text.h"
#include "fourtune/status.h"
#include "generator/candidates.h"
#include "tuner/report/configuration.h"
#include "tuner/report/json_text.h"

namespace fourtune::tuner {
namespace {

using Json = nlohmann::ordered_json;
using Configuration = std::map<std::string, std::string>;

std::string value_of(const Configuration& configuration, const std::string& name) {
  const auto found = configuration.find(name);
  return found == configuration.end() ? std::string() : found->second;
}

}  // namespace

std::string t1_text(const Problem& problem, const DeviceTraits& device) {
  if (!generator::is_gpu(device.backend))
    throw Error(Status::unsupported, fmt::format("{} is no GPU, and the format T1 describes kernels of GPUs only: name "
                                                 "a GPU, such as h100",
                                                 device.name));
  std::vector<Configuration> plans;
  std::map<std::string, std::set<std::string>> values;
  for (const generator::Candidate& candidate : generator::candidates(problem, device).candidates)
    plans.push_back(configuration_of(generator::to_text(candidate.plan, problem)));
  const Configuration untuned = configuration_of(generator::to_text(generator::default_plan(problem, device), problem));
  plans.push_back(untuned);
  for (const Configuration& plan : plans)
    for (const auto& [name, value] : plan) values[name];
  std::set<Json> combinations;
  for (const Configuration& plan : plans) {
    Json combination = Json::array();
    for (auto& [name, known] : values) {
      known.insert(value_of(plan, name));
      combination.push_back(value_of(plan, name));
    }
    combinations.insert(std::move(combination));
  }
  Json parameters = Json::array(), names = Json::array();
  std::string all_names;
  for (const auto& [name, known] : values) {
    parameters.push_back({{"Name", name},
                          {"Type", "string"},
                          {"Values", ordered_json_line(known)},
                          {"Default", value_of(untuned, name)}});
    names.push_back(name);
    all_names += (all_names.empty() ? "" : ", ") + name;
  }
  Json document;
  document["General"] = {{"FormatVersion", 1}, {"TimeUnit", "Milliseconds"}, {"OutputFormat", "JSON"}};
  document["ConfigurationSpace"] = {
      {"TuningParameters", parameters},
      {"Conditions",
       {{{"Parameters", names},
         {"Expression", fmt::format("[{}] in {}", all_names, ordered_json_line(combinations))}}}}};
  document["KernelSpecification"] = {{"Language", "CUDA"},
                                     {"Device", {{"Name", device.name}}},
                                     {"KernelName", to_token(problem)},
                                     {"KernelFile", "fourtune emit"},
                                     {"GlobalSize", {{"X", "1"}}},
                                     {"LocalSize", {{"X", "1"}}}};
  return json_text(document);
}

Problem problem_of_t1(std::string_view text) {
  const Json document = parse_ordered_json(text);
  const Json* name = nullptr;
  if (document.is_object() && document.contains("ConfigurationSpace") && document.contains("KernelSpecification") &&
      document["KernelSpecification"].is_object() && document["KernelSpecification"].contains("KernelName"))
    name = &document["KernelSpecification"]["KernelName"];
  if (!name || !name->is_string())
    throw Error(Status::invalid_argument,
                "no tuning problem in the format T1: a JSON object with ConfigurationSpace and "
                "KernelSpecification.KernelName, a problem's token");
  try {
    return parse_problem(name->get<std::string>());
  } catch (const Error& error) {
    throw Error(Status::invalid_argument,
                fmt::format("KernelSpecification.KernelName is not a problem of Fourtune: {}", error.what()));
  }
}

}  // namespace fourtune::tuner
