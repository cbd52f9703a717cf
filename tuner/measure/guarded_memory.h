// An array that ends a program the moment anything outside it is touched: the pages before and behind it are closed.
#pragma once

#include <cstddef>

namespace fourtune::tuner {

enum class Guard {
  before,  // the first byte lies right behind the closed page
  behind,  // the closed page follows the last byte
};

// Move-only owner of `bytes` bytes, filled with a pattern that is NaN in both precisions. With Guard::behind the array
// begins wherever its length puts it, so element types need a length that is a multiple of their size. A page has one
// closed end only; use both kinds to watch both ends.
class GuardedMemory {
 public:
  GuardedMemory() = default;
  // Throws Error{out_of_memory}. Zero bytes: data() is not null and may not be touched at all.
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
  // The bytes between the array and the open end of its pages still have their pattern: nothing wrote a little too far
  // on the side that has no closed page.
  bool slack_intact() const;

 private:
  std::byte* map_ = nullptr;
  std::size_t mapped_ = 0;
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace fourtune::tuner
