// A large, 64-byte aligned, uninitialised array on huge pages where the system has them. Move-only.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

#include "fourtune/problem.h"

namespace fourtune::runtime::cpu {

template <class T>
class Buffer {
 public:
  Buffer() = default;
  // Throws Error{out_of_memory} that says how much was asked for, Error{size_overflow} when that does not fit.
  explicit Buffer(std::int64_t count) : count_(count) {
    const std::int64_t bytes = checked_multiply(count, static_cast<std::int64_t>(sizeof(T)), "buffer");
    if (bytes == 0) return;
    constexpr std::int64_t huge = 2 << 20;
    const std::int64_t align = bytes >= huge ? huge : 64;
    void* memory = std::aligned_alloc(static_cast<std::size_t>(align),
                                      static_cast<std::size_t>((bytes + align - 1) / align * align));
    if (!memory) throw Error(Status::out_of_memory, "no room for an array of " + std::to_string(bytes) + " bytes");
    if (bytes >= huge) madvise(memory, static_cast<std::size_t>(bytes), MADV_HUGEPAGE);
    data_.reset(static_cast<T*>(memory));
  }
  T* data() const noexcept { return data_.get(); }
  std::int64_t size() const noexcept { return count_; }
  std::int64_t bytes() const noexcept { return count_ * static_cast<std::int64_t>(sizeof(T)); }
  T& operator[](std::int64_t i) const noexcept { return data_.get()[i]; }

 private:
  struct Free {
    void operator()(T* memory) const noexcept { std::free(memory); }
  };
  std::unique_ptr<T, Free> data_;
  std::int64_t count_ = 0;
};

}  // namespace fourtune::runtime::cpu
