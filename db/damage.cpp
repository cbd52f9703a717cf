#include "db/damage.h"

#include <fmt/format.h>

namespace fourtune::db {

std::string Damage::text() const {
  const auto many = [](std::size_t count, const char* what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
  };
  std::string out;
  if (verdicts + runs > 0)
    out = fmt::format("{} {} not what was written",
                      verdicts == 0 ? many(runs, "run")
                      : runs == 0   ? many(verdicts, "verdict")
                                    : many(verdicts, "verdict") + " and " + many(runs, "run"),
                      verdicts + runs == 1 ? "is" : "are");
  if (unreachable > 0)
    out += fmt::format("{}{} to others that are not there", out.empty() ? "" : ", ",
                       unreachable == 1 ? "1 row refers" : many(unreachable, "row") + " refer");
  return out;
}

}  // namespace fourtune::db
