#include "base/json_text.h"

#include <nlohmann/json.hpp>

namespace fourtune {
namespace {

template <class Json>
std::string printed(const Json& value, int indent, Letters letters) {
  return value.dump(indent, ' ', letters == Letters::ascii, Json::error_handler_t::replace);
}

}  // namespace

nlohmann::json parse_json(std::string_view text) { return nlohmann::json::parse(text, nullptr, false); }
nlohmann::ordered_json parse_ordered_json(std::string_view text) {
  return nlohmann::ordered_json::parse(text, nullptr, false);
}

std::string json_line(const nlohmann::json& value) { return json_lines(value, -1); }
std::string json_lines(const nlohmann::json& value, int indent) { return printed(value, indent, Letters::utf8); }
std::string ordered_json_line(const nlohmann::ordered_json& value) {
  return ordered_json_lines(value, -1, Letters::utf8);
}
std::string ordered_json_lines(const nlohmann::ordered_json& value, int indent, Letters letters) {
  return printed(value, indent, letters);
}

}  // namespace fourtune
