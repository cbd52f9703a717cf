// An array of the caller that tells when anything outside it was written: between closed pages on the host, between
// patterns (canaries) in a device's memory.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "runtime/backends/backend.h"
#include "tuner/measure/guarded_memory.h"

namespace fourtune::tools {

class WatchedArray {
 public:
  virtual ~WatchedArray() = default;
  virtual void* data() const = 0;
  virtual std::size_t bytes() const = 0;
  // Bytes from the array's start; what is behind them becomes unwritten (kUnwritten of soak/data.h).
  virtual void write(std::span<const std::byte> values) = 0;
  virtual void read(std::span<std::byte> values) const = 0;
  // Whether something outside was written; what a closed page sees ends the process instead.
  virtual bool touched_outside() const = 0;
};

// The array lies at the closed page that `guard` says, and starts at a multiple of `alignment` (a power of two, at most
// 4096); what that leaves between its end and the page is watched by pattern. Throws Error{out_of_memory}.
std::unique_ptr<WatchedArray> make_host_array(std::size_t bytes, tuner::Guard guard, std::size_t alignment);
// `memory` must outlive it. Throws Error{out_of_memory}.
std::unique_ptr<WatchedArray> make_device_array(runtime::ArrayMemory& memory, std::size_t bytes);

}  // namespace fourtune::tools
