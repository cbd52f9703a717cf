#include "tuner/report/device_words.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "base/text.h"

namespace fourtune::tuner {
namespace {

struct Value {
  const char *name, *before, *unit;
};
constexpr Value kValues[] = {
    {"clock_mhz", "", "MHz"}, {"memory_clock_mhz", "memory ", "MHz"}, {"watts", "", "W"}, {"celsius", "", "C"}};

}  // namespace

nlohmann::ordered_json device_values(const std::string& state) {
  const auto stored = parse_json(state);
  nlohmann::ordered_json values;
  if (!stored.is_object()) return values;
  for (const Value& value : kValues)
    if (stored.contains(value.name) && stored[value.name].is_number()) values[value.name] = stored[value.name];
  if (stored.contains("limits") && stored["limits"].is_array())
    for (const auto& limit : stored["limits"])
      if (limit.is_string()) values["limits"].push_back(limit.get<std::string>());
  return values;
}

std::string device_words(const nlohmann::ordered_json& values) {
  std::string words;
  const auto add = [&](const std::string& more) { words += (words.empty() ? "" : ", ") + more; };
  for (const Value& value : kValues)
    if (values.contains(value.name))
      add(fmt::format("{}{:.0f} {}", value.before, values[value.name].get<double>(), value.unit));
  if (values.contains("limits"))
    for (const auto& limit : values["limits"]) add("limited by " + text::shown(limit.get<std::string>()));
  return words;
}

}  // namespace fourtune::tuner
