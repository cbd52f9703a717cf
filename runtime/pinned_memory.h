// Host memory that a device reads and writes by itself, while other work goes on.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "runtime/backends/device_streams.h"

namespace fourtune::runtime {

// The streams must outlive it. Move-only.
class PinnedMemory {
 public:
  PinnedMemory() = default;
  PinnedMemory(PinnedMemory&& other) noexcept { *this = std::move(other); }
  PinnedMemory& operator=(PinnedMemory&& other) noexcept {
    std::swap(streams_, other.streams_), std::swap(at_, other.at_), std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~PinnedMemory() { release(); }
  // Grows and never shrinks; when it has to grow, the old content is lost. Throws Error{out_of_memory}.
  void resize(std::int64_t bytes, DeviceStreams& streams) {
    if (bytes <= bytes_) return;
    release();
    streams_ = &streams;
    at_ = static_cast<char*>(streams.allocate_host(bytes));
    bytes_ = bytes;
  }
  char* data() const { return at_; }
  std::int64_t bytes() const { return bytes_; }

 private:
  void release() {
    if (at_ != nullptr) streams_->release_host(at_);
    at_ = nullptr, bytes_ = 0;
  }
  DeviceStreams* streams_ = nullptr;
  char* at_ = nullptr;
  std::int64_t bytes_ = 0;
};

}  // namespace fourtune::runtime
