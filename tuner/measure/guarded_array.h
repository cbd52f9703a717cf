// An array that ends the program as soon as anything outside it is touched: the adjacent pages are not accessible.
// In the header alone, so that tests under sanitizers need nothing else of the tuner.
#pragma once

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

#include "fourtune/status.h"

namespace fourtune::tuner {

constexpr std::byte kGuardPattern{0xff};  // all bits set: a NaN as float and as double

enum class Guard {
  before,  // the first byte directly follows the inaccessible page
  behind,  // the inaccessible page follows the last byte
};

// Move-only owner of `bytes` bytes, filled with a pattern that is NaN in both precisions. With Guard::behind the length
// decides where the array begins, so the length must be a multiple of the element size. Only one end of an array is
// guarded; use both kinds to watch both ends.
class GuardedArray {
 public:
  GuardedArray() = default;
  // Throws Error{out_of_memory}. For zero bytes data() is not null and may not be touched at all.
  GuardedArray(std::size_t bytes, Guard guard);
  GuardedArray(GuardedArray&& other) noexcept { *this = static_cast<GuardedArray&&>(other); }
  GuardedArray& operator=(GuardedArray&& other) noexcept;
  ~GuardedArray();

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

inline GuardedArray::GuardedArray(std::size_t bytes, Guard guard) : bytes_(bytes) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t room = (bytes + page - 1) / page * page;
  mapped_ = room + 2 * page;
  void* map = room < bytes ? MAP_FAILED : mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (map == MAP_FAILED || (room > 0 && mprotect(static_cast<std::byte*>(map) + page, room, PROT_READ | PROT_WRITE))) {
    if (map != MAP_FAILED) munmap(map, mapped_);
    throw Error(Status::out_of_memory, fmt::format("{} bytes between closed pages could not be had", bytes));
  }
  map_ = static_cast<std::byte*>(map);
  data_ = guard == Guard::before ? map_ + page : map_ + page + room - bytes;
  if (room > 0) std::memset(map_ + page, static_cast<int>(kGuardPattern), room);
}

inline GuardedArray& GuardedArray::operator=(GuardedArray&& other) noexcept {
  std::swap(map_, other.map_);
  std::swap(mapped_, other.mapped_);
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

inline GuardedArray::~GuardedArray() {
  if (map_) munmap(map_, mapped_);
}

inline bool GuardedArray::slack_intact() const {
  if (!map_) return true;
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::byte* first = map_ + page;
  const std::byte* last = map_ + mapped_ - page;
  const auto* array = static_cast<const std::byte*>(data_);
  const auto intact = [](std::byte b) { return b == kGuardPattern; };
  return std::all_of(first, array, intact) && std::all_of(array + bytes_, last, intact);
}

}  // namespace fourtune::tuner
