// One array in the memory of a device.
#pragma once

#include <cstdint>
#include <utility>

#include "runtime/backends/backend.h"

namespace fourtune::runtime {

// The memory must outlive it. Move-only.
class DeviceArray {
 public:
  DeviceArray() = default;
  // Throws Error{out_of_memory}. For zero bytes data() is null.
  DeviceArray(ArrayMemory& memory, std::size_t bytes) { resize(static_cast<std::int64_t>(bytes), memory); }
  DeviceArray(DeviceArray&& other) noexcept { *this = std::move(other); }
  DeviceArray& operator=(DeviceArray&& other) noexcept;
  ~DeviceArray();
  // Grows and never shrinks; when it has to grow, the old content is lost. Throws Error{out_of_memory}.
  void resize(std::int64_t bytes, ArrayMemory& memory);
  void* data() const { return data_; }
  std::size_t bytes() const { return static_cast<std::size_t>(bytes_); }
  // The whole array.
  void upload(const void* host) const;
  void download(void* host) const;

 private:
  ArrayMemory* memory_ = nullptr;
  void* data_ = nullptr;
  std::int64_t bytes_ = 0;
};

}  // namespace fourtune::runtime
