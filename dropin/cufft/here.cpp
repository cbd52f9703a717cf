#include "dropin/cufft/here.h"

#include <utility>

#include "runtime/backends/cuda/device.h"
#include "runtime/backends/cuda/stream_order.h"

namespace fourtune::dropin {

using namespace runtime::cuda;

namespace {

class Events final : public StreamStopwatch {
 public:
  explicit Events(std::shared_ptr<const Device> device) : device_(std::move(device)), begin_(device_), end_(device_) {}
  void start(void* stream) override { record(begin_, stream); }
  void stop(void* stream) override { record(end_, stream); }
  std::optional<double> seconds() override {
    const RelaxedCapture allowed;  // another thread of the program may record a graph
    const ContextGuard guard(*device_);
    return end_.seconds_if_reached(begin_);
  }

 private:
  void record(const Event& event, void* stream) const {
    const ContextGuard guard(*device_);
    event.record(static_cast<CUstream>(stream));
  }
  std::shared_ptr<const Device> device_;
  Event begin_, end_;
};

}  // namespace

bool current_device(int& device, void*& context) noexcept try {
  if (!why_no_driver().empty()) return false;
  const DriverApi& api = driver();
  CUcontext current = nullptr;
  CUdevice handle = 0;
  if (!api.cuCtxGetDevice || api.cuCtxGetCurrent(&current) != CUDA_SUCCESS || !current ||
      api.cuCtxGetDevice(&handle) != CUDA_SUCCESS)
    return false;
  const int count = device_count();
  for (device = 0; device < count; ++device) {
    CUdevice other = 0;
    if (api.cuDeviceGet(&other, device) == CUDA_SUCCESS && other == handle) break;
  }
  context = current;
  return device < count;
} catch (...) {  // no memory
  return false;
}

bool is_primary(int device, const void* context) noexcept try {
  const DriverApi& api = driver();
  CUdevice handle = 0;
  unsigned flags = 0;
  int active = 0;
  if (!api.cuDevicePrimaryCtxGetState || api.cuDeviceGet(&handle, device) != CUDA_SUCCESS ||
      api.cuDevicePrimaryCtxGetState(handle, &flags, &active) != CUDA_SUCCESS || !active)
    return false;  // one that does not exist need not be made for the comparison
  return Device::open(device)->context() == context;
} catch (...) {
  return false;
}

long long free_memory(int device) noexcept try {
  const auto opened = Device::open(device);
  const ContextGuard guard(*opened);
  std::size_t available = 0, total = 0;
  return driver().cuMemGetInfo(&available, &total) == CUDA_SUCCESS ? static_cast<long long>(available) : 0;
} catch (...) {
  return 0;
}

std::unique_ptr<StreamStopwatch> make_stopwatch(int device) { return std::make_unique<Events>(Device::open(device)); }

bool is_recorded(void* stream) noexcept try {
  if (!why_no_driver().empty()) return false;
  return is_capturing(static_cast<CUstream>(stream));
} catch (...) {
  return true;
}

}  // namespace fourtune::dropin
