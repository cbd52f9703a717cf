#include "runtime/backends/emulated/guarded_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

namespace fourtune::runtime::emulated {
namespace {

// Reads as NaN in both precisions at any offset, and differs from what poison() writes, which a kernel may copy.
constexpr std::byte kPattern[4] = {std::byte{0xde}, std::byte{0xca}, std::byte{0xfa}, std::byte{0xff}};
std::byte pattern_at(const std::byte* at) { return kPattern[reinterpret_cast<std::uintptr_t>(at) % 4]; }

std::size_t page_bytes() {
  static const auto bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return bytes;
}

// The pattern over a page. After each block of a launch, the surroundings of every buffer are compared with it.
const std::byte* pattern_page() {
  static const std::vector<std::byte> page = [] {
    std::vector<std::byte> bytes(page_bytes());
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = kPattern[i % 4];
    return bytes;
  }();
  return page.data();
}

std::byte* map_inaccessible(std::size_t bytes) {
  void* at = ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) throw std::bad_alloc();
  return static_cast<std::byte*>(at);
}

std::size_t round_up(std::size_t value, std::size_t unit) { return (value + unit - 1) / unit * unit; }

}  // namespace

GuardedMemory::GuardedMemory(std::size_t bytes, std::string name) : bytes_(bytes), name_(std::move(name)) {
  const std::size_t page = page_bytes();
  const std::size_t used = round_up(bytes, kAlignment);
  accessible_ = round_up(std::max<std::size_t>(used, 1), page);
  mapped_ = accessible_ + 2 * kGuardBytes;
  mapping_ = map_inaccessible(mapped_);
  pages_ = mapping_ + kGuardBytes;
  if (::mprotect(pages_, accessible_, PROT_READ | PROT_WRITE) != 0) {
    ::munmap(mapping_, mapped_);
    throw std::bad_alloc();
  }
  data_ = pages_ + accessible_ - used;
  poison();
}

GuardedMemory& GuardedMemory::operator=(GuardedMemory&& other) noexcept {
  std::swap(mapping_, other.mapping_);
  std::swap(mapped_, other.mapped_);
  std::swap(pages_, other.pages_);
  std::swap(accessible_, other.accessible_);
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  std::swap(name_, other.name_);
  return *this;
}

GuardedMemory::~GuardedMemory() {
  if (mapping_) ::munmap(mapping_, mapped_);
}

// Less than a page lies before the buffer, or a whole one if the buffer is empty, and less than kAlignment bytes
// behind.
void GuardedMemory::paint() {
  std::memcpy(pages_, pattern_page(), static_cast<std::size_t>(data_ - pages_));
  for (std::byte* at = data_ + bytes_; at < pages_ + accessible_; ++at) *at = pattern_at(at);
}

void GuardedMemory::poison() {
  if (bytes_ > 0) std::memset(data_, 0xff, bytes_);
  paint();
}

std::optional<std::ptrdiff_t> GuardedMemory::touched_outside() const {
  for (const std::byte* at = data_ + bytes_; at < pages_ + accessible_; ++at)
    if (*at != pattern_at(at)) return at - data_;
  if (std::memcmp(pages_, pattern_page(), static_cast<std::size_t>(data_ - pages_)) == 0) return std::nullopt;
  for (const std::byte* at = data_; at-- > pages_;)
    if (*at != pattern_at(at)) return at - data_;
  return std::nullopt;
}

StackPool::~StackPool() {
  if (mapping_) ::munmap(mapping_, count_ * kStride);
}

void StackPool::reserve(std::size_t count) {
  if (count <= count_) return;
  std::byte* fresh = map_inaccessible(count * kStride);
  for (std::size_t i = 0; i < count; ++i)
    if (::mprotect(fresh + i * kStride + kPage, kStackBytes, PROT_READ | PROT_WRITE) != 0) {
      ::munmap(fresh, count * kStride);
      throw std::bad_alloc();
    }
  if (mapping_) ::munmap(mapping_, count_ * kStride);
  mapping_ = fresh;
  count_ = count;
}

}  // namespace fourtune::runtime::emulated
