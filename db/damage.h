// The contents of a database that readers do not trust.
#pragma once

#include <cstddef>
#include <string>

namespace fourtune::db {

struct Damage {
  std::size_t verdicts = 0, runs = 0;  // whose contents are not what was written
  std::size_t unreachable = 0;         // rows that refer to missing rows
  bool any() const noexcept { return verdicts + runs + unreachable > 0; }
  // For example "2 verdicts and 1 run are not what was written, 3 rows refer to others that are not there"; empty when
  // there is no damage.
  std::string text() const;
};

}  // namespace fourtune::db
