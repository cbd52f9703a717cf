// Aligned, uninitialised memory that grows but never shrinks; large buffers use huge pages.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <utility>

#include "fourtune/problem.h"

namespace fourtune::runtime::cpu {

// Holds trivially copyable elements. When resize() has to grow, the old content is lost.
template <class E>
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::int64_t count) { resize(count); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    swap(other);
    return *this;
  }
  ~Buffer() { std::free(data_); }

  // Throws Error{out_of_memory}, which says how much was requested, or Error{size_overflow} when the size overflows.
  void resize(std::int64_t count) {
    if (count > capacity_) {
      std::free(data_);
      data_ = nullptr;
      capacity_ = 0;
      const auto bytes =
          static_cast<std::size_t>(checked_multiply(count, static_cast<std::int64_t>(sizeof(E)), "buffer"));
      void* data = nullptr;
      if (::posix_memalign(&data, bytes >= kHuge ? kHuge : kSmall, std::max<std::size_t>(bytes, 1)) != 0)
        throw Error(Status::out_of_memory, "no room for an array of " + std::to_string(bytes) + " bytes");
      data_ = static_cast<E*>(data);
      // Use whole huge pages only: a huge page that reaches past the end would be resident for its first few bytes.
      if (bytes >= kHuge) madvise(data_, bytes / kHuge * kHuge, MADV_HUGEPAGE);
      capacity_ = count;
    }
    size_ = count;
  }
  void release() {
    std::free(data_);
    data_ = nullptr;
    capacity_ = size_ = 0;
  }
  E* data() { return data_; }
  const E* data() const { return data_; }
  E& operator[](std::int64_t i) { return data_[i]; }
  const E& operator[](std::int64_t i) const { return data_[i]; }
  std::int64_t size() const { return size_; }
  std::span<std::byte> memory() { return std::as_writable_bytes(std::span(data_, static_cast<std::size_t>(size_))); }
  std::int64_t bytes() const { return capacity_ * static_cast<std::int64_t>(sizeof(E)); }

 private:
  static constexpr std::size_t kSmall = 64, kHuge = std::size_t{2} << 20;
  void swap(Buffer& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }
  E* data_ = nullptr;
  std::int64_t size_ = 0, capacity_ = 0;
};

}  // namespace fourtune::runtime::cpu
