// Arrays in a device's memory: one; and copies of a problem's two, several of them, so that transforms timed one after
// the other do not find their data in the device's cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/backends/backend.h"

namespace fourtune::tuner {

// One array; the memory must outlive it. Move-only.
class DeviceArray {
 public:
  DeviceArray() = default;
  // Throws Error{out_of_memory}. Zero bytes: a null pointer.
  DeviceArray(runtime::ArrayMemory& memory, std::size_t bytes);
  DeviceArray(DeviceArray&& other) noexcept { *this = std::move(other); }
  DeviceArray& operator=(DeviceArray&& other) noexcept;
  ~DeviceArray();
  void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }
  void upload(const void* host) const;
  void download(void* host) const;

 private:
  runtime::ArrayMemory* memory_ = nullptr;
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

class DeviceArrays {
 public:
  // output_bytes 0: in place, the input array is the output too. Throws Error{out_of_memory}.
  DeviceArrays(std::unique_ptr<runtime::ArrayMemory> memory, std::size_t input_bytes, std::size_t output_bytes,
               int sets);

  int sets() const { return static_cast<int>(inputs_.size()); }
  void* input(int set = 0) const { return inputs_[static_cast<std::size_t>(set)].data(); }
  void* output(int set = 0) const {
    return output_bytes_ ? outputs_[static_cast<std::size_t>(set)].data() : input(set);
  }
  // Every input becomes a copy of these bytes, which keep being what restore_inputs puts back.
  void set_input(const void* host, std::size_t bytes);
  void restore_inputs() const;
  // NaN in both precisions, in the first set.
  void poison_output() const;
  // Of the first set, from byte `offset` on; both wait until what was started is done.
  void fetch_input(void* host, std::size_t bytes) const;
  void fetch_output(void* host, std::size_t bytes, std::size_t offset = 0) const;
  runtime::ArrayMemory& memory() const { return *memory_; }

 private:
  std::unique_ptr<runtime::ArrayMemory> memory_;
  std::size_t input_bytes_, output_bytes_, kept_bytes_ = 0;
  DeviceArray kept_;  // the input as it was set
  std::vector<DeviceArray> inputs_, outputs_;
};

// Bytes of an array, from `first` on.
struct Piece {
  std::size_t first = 0, bytes = 0;
};
// At most 64 MB of an array in up to 512 pieces, at least a thousandth of it: evenly spread, one in each part of the
// array at a place of its own; the first and the last bytes are among them. In rising order.
std::vector<Piece> pieces_of(std::size_t bytes);

// How many sets of that many bytes are needed so that one is out of a cache of `cache_bytes` when its turn comes again:
// twice what the cache holds, at most `most`; 1 for empty sets and where there is no cache.
int sets_past_cache(std::size_t set_bytes, std::int64_t cache_bytes, int most = 16);

}  // namespace fourtune::tuner
