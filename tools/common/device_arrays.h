// The arrays of a problem in a backend's memory.
#pragma once

#include <array>
#include <cstddef>
#include <memory>

#include "fourtune/problem.h"
#include "fourtune/transform.h"
#include "runtime/backends/backend.h"
#include "tuner/measure/device_arrays.h"

namespace fourtune::tools {

// Sizes of execute's arguments. In place both are the size of the single array. m (and k) must be known.
struct ArrayBytes {
  std::size_t first = 0, second = 0;
  bool in_place = false;
  std::size_t both() const { return in_place ? first : first + second; }
};
ArrayBytes array_bytes(const Problem& problem);

using tuner::DeviceArray;

// The points of a nonuniform transform, in the problem's precision.
class DevicePoints {
 public:
  DevicePoints() = default;
  // Uploads the points.
  DevicePoints(runtime::ArrayMemory& memory, const Problem& problem, const Points& host);
  Points points() const;
  void upload() const;  // uploads again from the host arrays given at construction

 private:
  Points host_;
  std::array<DeviceArray, 6> arrays_;
};

// Whether the backend's executors accept any host memory, so that arrays need no copies.
bool takes_host_arrays(const runtime::Backend& backend);

// Bytes per second, reads and writes, of copies between arrays of that size on the default stream. The arrays rotate to
// exceed a cache of cache_bytes; the best of several warm samples is returned.
double measure_copy(const runtime::Backend& backend, std::size_t bytes, int device);
// tuner::sets_past_cache with the maximum number of sets that the bench uses.
int rotated_sets(std::size_t bytes_a_set, std::int64_t cache_bytes);

}  // namespace fourtune::tools
