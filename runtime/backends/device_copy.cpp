#include "runtime/backends/device_copy.h"

#include <algorithm>
#include <utility>

namespace fourtune::runtime {

DeviceArray::DeviceArray(DeviceArray&& other) noexcept { *this = std::move(other); }
DeviceArray& DeviceArray::operator=(DeviceArray&& other) noexcept {
  std::swap(memory_, other.memory_);
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}
DeviceArray::~DeviceArray() {
  if (data_ != nullptr) memory_->release(data_);
}

void DeviceArray::resize(std::int64_t bytes, const DeviceCopy& device) {
  if (bytes <= bytes_) return;
  if (data_ != nullptr) memory_->release(data_);
  data_ = nullptr;
  bytes_ = 0;
  memory_ = &device.memory();
  data_ = memory_->allocate(static_cast<std::size_t>(bytes));
  bytes_ = bytes;
}

DeviceCopy::DeviceCopy(const Backend& backend, int device) {
  if (backend.capabilities().arrays != Arrays::host) memory_ = backend.memory(device);
}

void DeviceCopy::upload(void* array, const void* host, std::int64_t bytes) const {
  if (!is_host() && bytes > 0) memory_->upload(array, host, static_cast<std::size_t>(bytes));
}
void DeviceCopy::download(void* host, const void* array, std::int64_t bytes) const {
  if (!is_host() && bytes > 0) memory_->download(host, array, static_cast<std::size_t>(bytes));
}
void DeviceCopy::wait() const {
  if (!is_host()) memory_->wait();
}

PointSet DeviceCopy::points(const PointSet& host, const Problem& problem, std::vector<DeviceArray>& arrays) const {
  if (is_host()) return host;
  PointSet there = host;
  const auto copy = [&](const void*& coordinate, std::int64_t count) {
    if (coordinate == nullptr) return;
    const std::int64_t bytes = count * real_bytes(problem.precision);
    arrays.emplace_back().resize(std::max<std::int64_t>(bytes, 1), *this);
    upload(arrays.back().data(), coordinate, bytes);
    coordinate = arrays.back().data();
  };
  copy(there.x, host.m), copy(there.y, host.m), copy(there.z, host.m);
  copy(there.s, host.k), copy(there.t, host.k), copy(there.u, host.k);
  return there;
}

}  // namespace fourtune::runtime
