// Allocations of other processes that this one has opened, each once.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <utility>

#include "runtime/backends/device_streams.h"

namespace fourtune::runtime {

class ReachedMemory {
 public:
  using Open = std::function<void*(const SharedPlace&)>;  // the allocation's begin
  using Close = std::function<void(void*)>;               // must not throw
  ReachedMemory(Open open, Close close) : open_(std::move(open)), close_(std::move(close)) {}
  ~ReachedMemory() { forget(); }
  ReachedMemory(const ReachedMemory&) = delete;
  ReachedMemory& operator=(const ReachedMemory&) = delete;

  // Throws what `open` throws. A handle may come again for a later allocation; that one is opened again.
  void* reach(const SharedPlace& place) {
    const auto key = std::pair(place.process, place.handle);
    auto found = opened_.find(key);
    if (found != opened_.end() && found->second.allocation != place.allocation) {
      close_(found->second.begin);
      opened_.erase(found);
      found = opened_.end();
    }
    if (found == opened_.end()) found = opened_.emplace(key, Opened{open_(place), place.allocation}).first;
    return static_cast<char*>(found->second.begin) + place.offset;
  }
  void forget() noexcept {
    for (const auto& [key, one] : opened_) close_(one.begin);
    opened_.clear();
  }

 private:
  struct Opened {
    void* begin;
    std::uint64_t allocation;
  };
  Open open_;
  Close close_;
  std::map<std::pair<std::int64_t, std::array<unsigned char, 64>>, Opened> opened_;
};

}  // namespace fourtune::runtime
