// Streams of a GPU beside those of the application.
#pragma once

#include <memory>

#include "runtime/backends/cuda/device.h"
#include "runtime/backends/device_streams.h"

namespace fourtune::runtime::cuda {

std::unique_ptr<DeviceStreams> make_streams(std::shared_ptr<const Device> device);

}  // namespace fourtune::runtime::cuda
