#include "runtime/backends/device_array.h"

namespace fourtune::runtime {

DeviceArray& DeviceArray::operator=(DeviceArray&& other) noexcept {
  std::swap(memory_, other.memory_);
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

DeviceArray::~DeviceArray() {
  if (data_ != nullptr) memory_->release(data_);
}

void DeviceArray::resize(std::int64_t bytes, ArrayMemory& memory) {
  if (bytes <= bytes_) return;
  if (data_ != nullptr) memory_->release(data_);
  data_ = nullptr;
  bytes_ = 0;
  memory_ = &memory;
  data_ = memory_->allocate(static_cast<std::size_t>(bytes));
  bytes_ = bytes;
}

void DeviceArray::upload(const void* host) const {
  if (data_ != nullptr) memory_->upload(data_, host, bytes());
}
void DeviceArray::download(void* host) const {
  if (data_ != nullptr) memory_->download(host, data_, bytes());
}

}  // namespace fourtune::runtime
