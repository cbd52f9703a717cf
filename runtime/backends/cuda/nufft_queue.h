// A CUDA device for the nonuniform executors.
#pragma once

#include <memory>

#include "runtime/backends/cuda/compiler.h"
#include "runtime/backends/cuda/device.h"
#include "runtime/backends/cuda/kernel_shelf.h"
#include "runtime/backends/gpu/nufft_queue.h"

namespace fourtune::runtime::cuda {

// Kernels come from the shelf or from NVRTC.
std::unique_ptr<gpu::Queue> make_queue(std::shared_ptr<const Device> device, const KernelShelf& shelf);

}  // namespace fourtune::runtime::cuda
