// A CUDA device for the nonuniform executors.
#pragma once

#include <memory>

#include "db/kernel_store.h"
#include "runtime/backends/cuda/device.h"
#include "runtime/backends/gpu/nufft_queue.h"

namespace fourtune::runtime::cuda {

// Kernels come from the store or from NVRTC. The store must outlive the queue.
std::unique_ptr<gpu::Queue> make_queue(std::shared_ptr<const Device> device, db::KernelStore& store);
// Only compiles, into the store, the kernels that an executor loads: no memory, no launches. An executor made with this
// queue must not be used after construction. Needs no context, so any thread may call it.
std::unique_ptr<gpu::Queue> make_compile_queue(const DeviceTraits& traits, db::KernelStore& store, double seconds);

}  // namespace fourtune::runtime::cuda
