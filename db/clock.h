// The time as rows have it.
#pragma once

#include <chrono>
#include <cstdint>

namespace fourtune::db {

// Milliseconds since 1970.
inline std::int64_t now_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace fourtune::db
