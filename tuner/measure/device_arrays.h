// Several copies of a problem's two arrays in device memory, so that transforms timed one after the other do not find
// their data in the device's cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/backends/backend.h"
#include "runtime/backends/device_array.h"

namespace fourtune::tuner {

using runtime::DeviceArray;

class DeviceArrays {
 public:
  // output_bytes 0 means in place: the input array is also the output. Throws Error{out_of_memory}.
  DeviceArrays(std::unique_ptr<runtime::ArrayMemory> memory, std::size_t input_bytes, std::size_t output_bytes,
               int sets);

  int sets() const { return static_cast<int>(inputs_.size()); }
  void* input(int set = 0) const { return inputs_[static_cast<std::size_t>(set)].data(); }
  void* output(int set = 0) const {
    return output_bytes_ ? outputs_[static_cast<std::size_t>(set)].data() : input(set);
  }
  // Copies these bytes into every input; restore_inputs puts the same bytes back later.
  void set_input(const void* host, std::size_t bytes);
  void restore_inputs() const;
  // Fills the output of the first set with bytes that are NaN in both precisions.
  void poison_output() const;
  // These two read the first set, fetch_output from byte `offset` on; both wait until all started work is done.
  void fetch_input(void* host, std::size_t bytes) const;
  void fetch_output(void* host, std::size_t bytes, std::size_t offset = 0) const;
  runtime::ArrayMemory& memory() const { return *memory_; }

 private:
  std::unique_ptr<runtime::ArrayMemory> memory_;
  std::size_t input_bytes_, output_bytes_, kept_bytes_ = 0;
  DeviceArray kept_;  // the input as it was set by set_input
  std::vector<DeviceArray> inputs_, outputs_;
};

// A range of bytes of an array, which begins at byte `first`.
struct Piece {
  std::size_t first = 0, bytes = 0;
};
// Up to 256 pieces that hold at most 4 MB and a part of an array, at least a thousandth of 1 GB. They are evenly
// spread: each part of the array has one piece, at a varying place, and the first and last bytes are included. In
// ascending order.
std::vector<Piece> pieces_of(std::size_t bytes);

// The number of sets of `set_bytes` bytes after which a set is no longer in a cache of `cache_bytes` when its turn
// comes again: twice what the cache holds, at most `most`. It is 1 for empty sets and where there is no cache.
int sets_past_cache(std::size_t set_bytes, std::int64_t cache_bytes, int most = 16);

}  // namespace fourtune::tuner
