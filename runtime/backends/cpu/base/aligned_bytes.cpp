#include "runtime/backends/cpu/base/aligned_bytes.h"

#include <new>
#include <string>

#include "fourtune/status.h"

namespace fourtune::runtime::cpu {

AlignedBytes::AlignedBytes(std::int64_t bytes) : bytes_(bytes) {
  if (bytes < 0) throw Error(Status::size_overflow, "the bytes of a work array do not fit in 64 bits");
  if (bytes == 0) return;
  const std::size_t alignment = bytes >= 4096 ? 4096 : 64;
  data_ = ::operator new(static_cast<std::size_t>(bytes), std::align_val_t(alignment), std::nothrow);
  if (data_ == nullptr) {
    throw Error(Status::out_of_memory, "no memory for a work array of " + std::to_string(bytes) + " bytes");
  }
}

AlignedBytes::~AlignedBytes() {
  if (data_ != nullptr) ::operator delete(data_, std::align_val_t(bytes_ >= 4096 ? 4096 : 64));
}

}  // namespace fourtune::runtime::cpu
