// Arrays of a problem in a backend's memory.
#pragma once

#include <array>
#include <cstddef>
#include <memory>

#include "fourtune/problem.h"
#include "fourtune/transform.h"
#include "runtime/backends/backend.h"
#include "tuner/measure/device_arrays.h"

namespace fourtune::tools {

// Bytes of execute's arguments. In place both are the one array's. m (and k) must be known.
struct ArrayBytes {
  std::size_t first = 0, second = 0;
  bool in_place = false;
  std::size_t both() const { return in_place ? first : first + second; }
};
ArrayBytes array_bytes(const Problem& problem);

using tuner::DeviceArray;

// The points of a nonuniform transform, of the problem's precision.
class DevicePoints {
 public:
  DevicePoints() = default;
  // Uploads.
  DevicePoints(runtime::ArrayMemory& memory, const Problem& problem, const Points& host);
  Points points() const;
  void upload() const;  // again, from the host arrays of construction

 private:
  Points host_;
  std::array<DeviceArray, 6> arrays_;
};

// Whether the backend's executors take host memory of the caller's own (so arrays need no copies).
bool takes_host_arrays(const runtime::Backend& backend);

// While the result lives, the device's context is current on this thread (for libraries that expect one); null where
// there is none.
std::shared_ptr<void> make_device_current(const runtime::Backend& backend, int device);

// Bytes a second, read and written, of copies between arrays of that size on the default stream, the arrays rotated
// past a cache of cache_bytes; best of several samples, warm.
double measure_copy(const runtime::Backend& backend, std::size_t bytes, int device);
// tuner::sets_past_cache with as many sets as the bench takes.
int rotated_sets(std::size_t bytes_a_set, std::int64_t cache_bytes);

}  // namespace fourtune::tools
