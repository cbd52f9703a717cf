// An array that ends the program as soon as anything outside it is touched: the adjacent pages are not accessible.
#pragma once

#include <cstddef>

namespace fourtune::tuner {

enum class Guard {
  before,  // the first byte directly follows the inaccessible page
  behind,  // the inaccessible page follows the last byte
};

// Move-only owner of `bytes` bytes, filled with a pattern that is NaN in both precisions. With Guard::behind the length
// decides where the array begins, so the length must be a multiple of the element size. Only one end of an array is
// guarded; use both kinds to watch both ends.
class GuardedMemory {
 public:
  GuardedMemory() = default;
  // Throws Error{out_of_memory}. For zero bytes data() is not null and may not be touched at all.
  GuardedMemory(std::size_t bytes, Guard guard);
  GuardedMemory(GuardedMemory&& other) noexcept { *this = static_cast<GuardedMemory&&>(other); }
  GuardedMemory& operator=(GuardedMemory&& other) noexcept;
  ~GuardedMemory();

  void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }
  template <class T>
  T* as() const {
    return static_cast<T*>(data_);
  }
  // True when the bytes between the array and the unguarded end of its pages still have their pattern, that is, when
  // nothing wrote slightly beyond the array on that side.
  bool slack_intact() const;

 private:
  std::byte* map_ = nullptr;
  std::size_t mapped_ = 0;
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace fourtune::tuner
