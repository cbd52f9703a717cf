// JSON, read and printed. Every source that does so with the library's templates compiles its parser and its printer
// again, which takes seconds, so these functions are the only ones that do.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace fourtune {

// A discarded value if it is not JSON; never throws for that.
nlohmann::json parse_json(std::string_view text);
nlohmann::ordered_json parse_ordered_json(std::string_view text);

// Bytes that are not UTF-8 are replaced. Without an end of line after the last one.
std::string json_line(const nlohmann::json& value);
std::string json_lines(const nlohmann::json& value, int indent);
enum class Letters { utf8, ascii };
std::string ordered_json_line(const nlohmann::ordered_json& value);
std::string ordered_json_lines(const nlohmann::ordered_json& value, int indent, Letters letters);

}  // namespace fourtune
