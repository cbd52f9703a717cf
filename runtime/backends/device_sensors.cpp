#include "runtime/backends/device_sensors.h"

#include <fmt/format.h>

#include <algorithm>

namespace fourtune::runtime {

bool DeviceState::slowed() const {
  return std::any_of(limits.begin(), limits.end(), [](const std::string& limit) { return limit != "power"; });
}

std::string state_text(const DeviceState& state) {
  std::string text;
  const auto add = [&](const char* name, const std::string& value) {
    text += fmt::format("{}\"{}\":{}", text.empty() ? "{" : ",", name, value);
  };
  if (state.clock_mhz) add("clock_mhz", std::to_string(*state.clock_mhz));
  if (state.memory_clock_mhz) add("memory_clock_mhz", std::to_string(*state.memory_clock_mhz));
  if (state.watts) add("watts", fmt::format("{}", *state.watts));
  if (state.celsius) add("celsius", std::to_string(*state.celsius));
  std::string limits;  // words of ours, so nothing needs escaping
  for (const std::string& limit : state.limits) limits += fmt::format("{}\"{}\"", limits.empty() ? "" : ",", limit);
  if (!limits.empty()) add("limits", "[" + limits + "]");
  return text.empty() ? text : text + "}";
}

}  // namespace fourtune::runtime
