#include "runtime/validity.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/json_text.h"

namespace fourtune::runtime {
namespace {

using Json = nlohmann::json;

constexpr double kFactor = 2;

Json range(double value) { return Json::array({value / kFactor, value * kFactor}); }

// What must be equal. The sign need not be: the transform of the other sign is that of conjugated data, conjugated.
Problem without_ranges(Problem problem) {
  problem.sign = -1;
  problem.m.reset(), problem.k.reset(), problem.extent.reset(), problem.points.reset();
  problem.batch = 1;
  return problem;
}

bool inside(const Json& ranges, const char* key, double value, std::string& why) {
  const auto found = ranges.find(key);
  if (found == ranges.end()) return true;
  if (!found->is_array() || found->size() != 2 || !(*found)[0].is_number() || !(*found)[1].is_number()) {
    why = fmt::format("its range of {} is damaged", key);
    return false;
  }
  const double low = (*found)[0].get<double>(), high = (*found)[1].get<double>();
  if (value >= low && value <= high) return true;
  why = fmt::format("{}={:g} is outside the measured {:g}..{:g}", key, value, low, high);
  return false;
}

}  // namespace

std::string validity_of(const Problem& problem) {
  Json ranges = Json::object();
  ranges["batch"] = range(static_cast<double>(problem.batch));
  if (problem.kind == Kind::fft) return json_line(ranges);
  if (problem.m) ranges["m"] = range(static_cast<double>(*problem.m));
  if (problem.k) ranges["k"] = range(static_cast<double>(*problem.k));
  if (problem.extent)
    for (int d = 0; d < problem.dim; ++d) ranges[fmt::format("extent_{}", "xyz"[d])] = range((*problem.extent)[d]);
  ranges["points"] = to_string(problem.points.value_or(PointClass::uniform));
  return json_line(ranges);
}

bool covers(std::string_view validity, const Problem& measured, const Problem& actual, std::string& why) {
  if (without_ranges(measured) != without_ranges(actual)) {
    why = "it is for another problem";
    return false;
  }
  const Json ranges = parse_json(validity);
  if (!ranges.is_object()) {
    why = "its validity is damaged";
    return false;
  }
  if (!inside(ranges, "batch", static_cast<double>(actual.batch), why)) return false;
  if (actual.m && !inside(ranges, "m", static_cast<double>(*actual.m), why)) return false;
  if (actual.k && !inside(ranges, "k", static_cast<double>(*actual.k), why)) return false;
  if (actual.extent)
    for (int d = 0; d < actual.dim; ++d)
      if (!inside(ranges, fmt::format("extent_{}", "xyz"[d]).c_str(), (*actual.extent)[d], why)) return false;
  // An application does not name the class of its points, so any class serves.
  if (actual.points && ranges.contains("points") && ranges["points"] != to_string(*actual.points)) {
    why = "it is for another class of points";
    return false;
  }
  return true;
}

}  // namespace fourtune::runtime
