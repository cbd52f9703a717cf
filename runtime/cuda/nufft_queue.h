// A GPU under the nonuniform executors.
#pragma once

#include <memory>

#include "db/kernel_store.h"
#include "runtime/cuda/device.h"
#include "runtime/gpu/nufft_queue.h"

namespace fourtune::runtime::cuda {

// Kernels come from the store or NVRTC. The store outlives the queue.
std::unique_ptr<gpu::Queue> make_queue(std::shared_ptr<const Device> device, db::KernelStore& store);

}  // namespace fourtune::runtime::cuda
