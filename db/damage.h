// What a database holds but is not believed.
#pragma once

#include <cstddef>
#include <string>

namespace fourtune::db {

struct Damage {
  std::size_t verdicts = 0, runs = 0;  // that are not what was written
  std::size_t unreachable = 0;         // rows that refer to others which are not there
  bool any() const noexcept { return verdicts + runs + unreachable > 0; }
  // "2 verdicts and 1 run are not what was written, 3 rows refer to others that are not there"; empty without any.
  std::string text() const;
};

}  // namespace fourtune::db
