// Copies of a problem's two arrays in a device's memory, several of them, so that transforms timed one after the other
// do not find their data in the device's cache.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "runtime/backend.h"

namespace fourtune::tuner {

class DeviceArrays {
 public:
  // output_bytes 0: in place, the input array is the output too. Throws Error{out_of_memory}.
  DeviceArrays(std::unique_ptr<runtime::ArrayMemory> memory, std::size_t input_bytes, std::size_t output_bytes,
               int sets);
  DeviceArrays(const DeviceArrays&) = delete;
  DeviceArrays& operator=(const DeviceArrays&) = delete;
  ~DeviceArrays();

  int sets() const { return static_cast<int>(inputs_.size()); }
  void* input(int set = 0) const { return inputs_[static_cast<std::size_t>(set)]; }
  void* output(int set = 0) const { return output_bytes_ ? outputs_[static_cast<std::size_t>(set)] : input(set); }
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
  std::vector<void*> inputs_, outputs_;
  void* kept_ = nullptr;  // the input as it was set
};

// Bytes of an array, from `first` on.
struct Piece {
  std::size_t first = 0, bytes = 0;
};
// At most 64 MB of an array in up to 512 pieces, at least a thousandth of it: evenly spread, one in each part of the
// array at a place of its own; the first and the last bytes are among them. In rising order.
std::vector<Piece> pieces_of(std::size_t bytes);

// Sets that together do not fit a cache of `cache_bytes`, at most 16.
int sets_past_cache(std::size_t set_bytes, std::int64_t cache_bytes);

}  // namespace fourtune::tuner
