// What a test says about the memory of emulated devices, which is that of the process: that an array is in one device's
// memory, and how fast devices copy from each other. Not for several threads at once.
#pragma once

#include <cstddef>

namespace fourtune::runtime::emulated {

// While this lives, only that device reaches the array.
class PlacedArray {
 public:
  PlacedArray(const void* array, std::size_t bytes, int device);
  ~PlacedArray();
  PlacedArray(const PlacedArray&) = delete;
  PlacedArray& operator=(const PlacedArray&) = delete;

 private:
  const void* array_;
};
// The device whose memory has this byte; -1: it was not placed.
int owner_of(const void* byte);

// Bytes per second between any two devices. Infinite unless it is set: copies take none of the emulated time.
double emulated_link();
void set_emulated_link(double bytes_per_second);

}  // namespace fourtune::runtime::emulated
