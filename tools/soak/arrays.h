// An array of the caller that detects writes outside it: it lies between inaccessible pages on the host, or between
// patterns (canaries) in device memory.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "runtime/backends/backend.h"
#include "tuner/measure/guarded_array.h"

namespace fourtune::tools {

class WatchedArray {
 public:
  virtual ~WatchedArray() = default;
  virtual void* data() const = 0;
  virtual std::size_t bytes() const = 0;
  // Writes these bytes at the array's start; all bytes after them become unwritten (kUnwritten of soak/data.h).
  virtual void write(std::span<const std::byte> values) = 0;
  virtual void read(std::span<std::byte> values) const = 0;
  // Whether something outside was written. A write to an inaccessible page ends the process instead.
  virtual bool touched_outside() const = 0;
};

// The array lies next to the inaccessible page on the side given by `guard`, and starts at a multiple of `alignment` (a
// power of two, at most 4096). The space that this leaves between its end and the page is watched by a pattern. Throws
// Error{out_of_memory}.
std::unique_ptr<WatchedArray> make_host_array(std::size_t bytes, tuner::Guard guard, std::size_t alignment);
// `memory` must outlive the array. Throws Error{out_of_memory}.
std::unique_ptr<WatchedArray> make_device_array(runtime::ArrayMemory& memory, std::size_t bytes);

}  // namespace fourtune::tools
