// Memory of a device, and copies between it and host arrays, for those who pass arrays of an application on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/backends/backend.h"

namespace fourtune::runtime {

class DeviceCopy;

// Memory of a backend; grows and never shrinks.
class DeviceArray {
 public:
  DeviceArray() = default;
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  DeviceArray(DeviceArray&& other) noexcept;
  DeviceArray& operator=(DeviceArray&& other) noexcept;
  ~DeviceArray();
  // When it has to grow, the old content is lost. Throws Error{out_of_memory}.
  void resize(std::int64_t bytes, const DeviceCopy& device);
  void* data() const { return data_; }

 private:
  ArrayMemory* memory_ = nullptr;
  void* data_ = nullptr;
  std::int64_t bytes_ = 0;
};

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

 private:
  std::unique_ptr<ArrayMemory> memory_;
};

}  // namespace fourtune::runtime
