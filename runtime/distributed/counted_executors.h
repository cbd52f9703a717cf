// Executors of one transform for several numbers of items at a time, as the pieces of an array differ by one.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/backends/backend.h"

namespace fourtune::runtime::distributed {

class CountedExecutors {
 public:
  // Calls make() for a new count above 0.
  template <class Make>
  void add(std::int64_t count, Make make) {
    if (count > 0 && find(count) == nullptr) executors_.emplace_back(count, make());
  }
  // Null for a count that was not added.
  Executor* find(std::int64_t count) const {
    for (const auto& [of, executor] : executors_)
      if (of == count) return executor.get();
    return nullptr;
  }
  std::int64_t bytes() const {
    std::int64_t bytes = 0;
    for (const auto& [of, executor] : executors_) bytes += executor->memory().held;
    return bytes;
  }

 private:
  std::vector<std::pair<std::int64_t, std::unique_ptr<Executor>>> executors_;
};

}  // namespace fourtune::runtime::distributed
