// Copies between host arrays and the memory of a device, for code that passes on the arrays of an application.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/backends/backend.h"
#include "runtime/backends/device_array.h"

namespace fourtune::runtime {

// The arrays of a transform must end before it.
class DeviceCopy {
 public:
  DeviceCopy(const Backend& backend, int device);
  // Host arrays can be passed as they are; nothing below copies anything then.
  bool is_host() const { return memory_ == nullptr; }
  void upload(void* array, const void* host, std::int64_t bytes) const;
  void download(void* host, const void* array, std::int64_t bytes) const;
  void wait() const;
  // The points where the backend can read them; `arrays` holds their copies.
  PointSet points(const PointSet& host, const Problem& problem, std::vector<DeviceArray>& arrays) const;
  ArrayMemory& memory() const { return *memory_; }
  // Nothing happens for zero bytes, the only ones where the backend takes host arrays.
  void resize(DeviceArray& array, std::int64_t bytes) const {
    if (bytes > 0) array.resize(bytes, memory());
  }

 private:
  std::unique_ptr<ArrayMemory> memory_;
};

}  // namespace fourtune::runtime
