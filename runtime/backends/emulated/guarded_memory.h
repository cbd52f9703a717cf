// Memory surrounded by inaccessible pages, used for device buffers, shared memory and fiber stacks.
//
// Invariants
//   1. The last byte of a buffer lies less than kAlignment bytes before inaccessible pages.
//   2. The pages before and after it are inaccessible for kGuardBytes.
//   3. The rest of the buffer's pages holds a pattern that reads as NaN; touched_outside() tells whether it is intact.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace fourtune::runtime::emulated {

inline constexpr std::size_t kAlignment = 16;  // of every buffer; the widest access of a thread
inline constexpr std::size_t kGuardBytes = std::size_t{16} << 20;

// A mapping, accessible in [data, data + bytes). Move-only. Throws std::bad_alloc.
class GuardedMemory {
 public:
  GuardedMemory() = default;
  explicit GuardedMemory(std::size_t bytes, std::string name = {});
  GuardedMemory(GuardedMemory&& other) noexcept { *this = std::move(other); }
  GuardedMemory& operator=(GuardedMemory&& other) noexcept;
  ~GuardedMemory();

  std::byte* data() const { return data_; }
  std::size_t size() const { return bytes_; }
  const std::string& name() const { return name_; }
  bool holds(const void* address, std::size_t bytes = 1) const {
    const auto* at = static_cast<const std::byte*>(address);
    return at >= data_ && at + bytes <= data_ + bytes_;
  }
  // True for an address in the buffer or its guard pages.
  bool near(const void* address) const {
    const auto* at = static_cast<const std::byte*>(address);
    return at >= mapping_ && at < mapping_ + mapped_;
  }
  // Offset from the buffer's start (negative: before it) of the first modified byte around it, if any.
  std::optional<std::ptrdiff_t> touched_outside() const;
  // Sets every byte to 0xff, NaN in both precisions, and renews the pattern around the buffer.
  void poison();

 private:
  void paint();
  std::byte* mapping_ = nullptr;
  std::size_t mapped_ = 0;
  std::byte* pages_ = nullptr;  // the accessible pages
  std::size_t accessible_ = 0;
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
  std::string name_;
};

// Stacks of equal size, each with an inaccessible page below. The pool grows on demand and never shrinks.
class StackPool {
 public:
  StackPool() = default;
  StackPool(const StackPool&) = delete;
  StackPool& operator=(const StackPool&) = delete;
  ~StackPool();
  static constexpr std::size_t kStackBytes = 128 * 1024;

  // Makes at least `count` stacks; those handed out before stay valid only if there were enough already.
  void reserve(std::size_t count);
  // The address one past the highest byte.
  void* top(std::size_t index) const { return mapping_ + (index + 1) * kStride; }
  std::byte* bottom(std::size_t index) const { return mapping_ + index * kStride + kPage; }
  bool holds(const void* address) const {
    const auto* at = static_cast<const std::byte*>(address);
    return at >= mapping_ && at < mapping_ + count_ * kStride;
  }
  bool in_guard(const void* address) const {
    return holds(address) &&
           static_cast<std::size_t>(static_cast<const std::byte*>(address) - mapping_) % kStride < kPage;
  }

 private:
  static constexpr std::size_t kPage = 4096;
  static constexpr std::size_t kStride = kStackBytes + kPage;
  std::byte* mapping_ = nullptr;
  std::size_t count_ = 0;
};

}  // namespace fourtune::runtime::emulated
