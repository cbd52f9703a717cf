// A GPU under the nonuniform executors.
#pragma once

#include <memory>

#include "db/kernel_store.h"
#include "runtime/backends/cuda/device.h"
#include "runtime/backends/gpu/nufft_queue.h"

namespace fourtune::runtime::cuda {

// Kernels come from the store or NVRTC. The store outlives the queue.
std::unique_ptr<gpu::Queue> make_queue(std::shared_ptr<const Device> device, db::KernelStore& store);
// Compiles into the store what an executor loads, and does nothing else: no memory, no launches. An executor made with
// it is good for nothing but being made. Needs no context, so any thread may.
std::unique_ptr<gpu::Queue> make_compile_queue(const DeviceTraits& traits, db::KernelStore& store, double seconds);

}  // namespace fourtune::runtime::cuda
