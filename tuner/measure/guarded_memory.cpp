#include "tuner/measure/guarded_memory.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "fourtune/status.h"

namespace fourtune::tuner {
namespace {

constexpr std::byte kPattern{0xff};  // all bits set: a NaN as float and as double

}  // namespace

GuardedMemory::GuardedMemory(std::size_t bytes, Guard guard) : bytes_(bytes) {
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
  if (room > 0) std::memset(map_ + page, static_cast<int>(kPattern), room);
}

GuardedMemory& GuardedMemory::operator=(GuardedMemory&& other) noexcept {
  std::swap(map_, other.map_);
  std::swap(mapped_, other.mapped_);
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

GuardedMemory::~GuardedMemory() {
  if (map_) munmap(map_, mapped_);
}

bool GuardedMemory::slack_intact() const {
  if (!map_) return true;
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::byte* first = map_ + page;
  const std::byte* last = map_ + mapped_ - page;
  const auto* array = static_cast<const std::byte*>(data_);
  const auto intact = [](std::byte b) { return b == kPattern; };
  return std::all_of(first, array, intact) && std::all_of(array + bytes_, last, intact);
}

}  // namespace fourtune::tuner
