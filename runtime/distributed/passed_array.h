// An array of the application: the device works on it where it is, or on a copy.
#pragma once

#include <algorithm>
#include <cstdint>

#include "runtime/backends/device_copy.h"
#include "runtime/backends/device_streams.h"

namespace fourtune::runtime::distributed {

class PassedArray {
 public:
  // Where the device finds it from now on. Throws Error{out_of_memory}.
  char* bind(void* given, std::int64_t bytes, const DeviceStreams& streams, const DeviceCopy& memory) {
    given_ = given;
    copied_ = bytes > 0 && !streams.reaches(given) ? bytes : 0;
    if (copied_ == 0) return static_cast<char*>(given);
    memory.resize(copy_, copied_);
    held_ = std::max(held_, copied_);
    return static_cast<char*>(copy_.data());
  }
  // Both wait; they do nothing for an array that the device reaches.
  void upload(const DeviceCopy& memory) const {
    if (copied_ > 0) memory.upload(copy_.data(), given_, copied_);
  }
  void download(const DeviceCopy& memory) const {
    if (copied_ > 0) memory.download(given_, copy_.data(), copied_);
  }
  std::int64_t bytes() const { return held_; }

 private:
  void* given_ = nullptr;
  std::int64_t copied_ = 0, held_ = 0;
  DeviceArray copy_;
};

}  // namespace fourtune::runtime::distributed
