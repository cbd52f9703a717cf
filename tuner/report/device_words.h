// What a run's row says of the device that it was measured on (runtime/backends/device_sensors.h), for reports.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace fourtune::tuner {

// The values of a stored state that are known here and are of the right kind, as an object; null when there are none.
nlohmann::ordered_json device_values(const std::string& state);

// "1980 MHz, memory 2619 MHz, 312 W, 48 C, limited by power", of such values; empty for null. Safe to print.
std::string device_words(const nlohmann::ordered_json& values);

}  // namespace fourtune::tuner
