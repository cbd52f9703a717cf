// JSON as the database has it. Every source that reads or writes JSON with the library's templates compiles its parser
// and its printer again, which takes seconds, so these functions are the only ones that do.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace fourtune::db {

// A discarded value if it is not JSON; never throws for that.
nlohmann::json parse_json(std::string_view text);
// On one line. Bytes that are not UTF-8 are replaced.
std::string json_line(const nlohmann::json& value);

}  // namespace fourtune::db
