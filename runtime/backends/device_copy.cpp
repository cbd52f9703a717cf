#include "runtime/backends/device_copy.h"

#include <algorithm>
#include <utility>

namespace fourtune::runtime {

DeviceCopy::DeviceCopy(const Backend& backend, int device) {
  if (backend.capabilities().arrays != MemoryKind::host) memory_ = backend.memory(device);
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
    arrays.emplace_back().resize(std::max<std::int64_t>(bytes, 1), memory());
    upload(arrays.back().data(), coordinate, bytes);
    coordinate = arrays.back().data();
  };
  copy(there.x, host.m), copy(there.y, host.m), copy(there.z, host.m);
  copy(there.s, host.k), copy(there.t, host.k), copy(there.u, host.k);
  return there;
}

}  // namespace fourtune::runtime
