// The one dialect of JSON that is printed: indented by 2, in ASCII (what a terminal would interpret is escaped too),
// null for numbers that are not finite, times in seconds under names that say so, a newline at the end.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace fourtune::tuner {

// Bytes that are not UTF-8 are replaced.
std::string json_text(const nlohmann::ordered_json& json);

}  // namespace fourtune::tuner
