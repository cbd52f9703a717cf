#include "dropin/cufinufft/device_memory.h"

#include <dlfcn.h>

#include <cstddef>
#include <cstdlib>

namespace fourtune::dropin {

// libfourtune does not tell it, but has loaded and started the driver.
std::int64_t device_memory(int device) noexcept {
  static void* const driver = [] {
    const char* const chosen = std::getenv("FOURTUNE_CUDA_DRIVER");
    return ::dlopen(chosen && *chosen ? chosen : "libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  }();
  if (!driver) return 0;
  const auto get = reinterpret_cast<int (*)(int*, int)>(::dlsym(driver, "cuDeviceGet"));
  const auto total = reinterpret_cast<int (*)(std::size_t*, int)>(::dlsym(driver, "cuDeviceTotalMem_v2"));
  int handle = 0;
  std::size_t bytes = 0;
  if (!get || !total || get(&handle, device) != 0 || total(&bytes, handle) != 0) return 0;
  return static_cast<std::int64_t>(bytes);
}

}  // namespace fourtune::dropin
