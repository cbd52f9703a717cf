// Memory for work arrays.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace fourtune::runtime::cpu {

// Uninitialised memory aligned to pages of 4096 bytes, or to cache lines when small. Throws Error{out_of_memory |
// size_overflow}.
class AlignedBytes {
 public:
  AlignedBytes() = default;
  explicit AlignedBytes(std::int64_t bytes);
  AlignedBytes(AlignedBytes&& other) noexcept : data_(other.data_), bytes_(other.bytes_) {
    other.data_ = nullptr;
    other.bytes_ = 0;
  }
  AlignedBytes& operator=(AlignedBytes&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~AlignedBytes();
  template <class U>
  U* as() const {
    return static_cast<U*>(data_);
  }
  std::int64_t bytes() const { return bytes_; }

 private:
  void* data_ = nullptr;
  std::int64_t bytes_ = 0;
};

// The bytes that the elements of a table occupy.
template <class E>
std::int64_t bytes_of(const std::vector<E>& table) {
  return static_cast<std::int64_t>(table.size() * sizeof(E));
}

}  // namespace fourtune::runtime::cpu
