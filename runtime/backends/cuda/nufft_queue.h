// A CUDA device for the nonuniform executors.
#pragma once

#include <memory>
#include <vector>

#include "runtime/backends/cuda/compiler.h"
#include "runtime/backends/cuda/device.h"
#include "runtime/backends/cuda/kernel_shelf.h"
#include "runtime/backends/gpu/nufft_queue.h"

namespace fourtune::runtime::cuda {

// Kernels come from the shelf or from NVRTC.
std::unique_ptr<gpu::Queue> make_queue(std::shared_ptr<const Device> device, const KernelShelf& shelf);
// Only notes in `kernels` what an executor loads: no memory, no launches. An executor made with this queue must not be
// used after construction. Needs no context, so any thread may call it.
std::unique_ptr<gpu::Queue> make_listing_queue(const DeviceTraits& traits,
                                               std::vector<generator::KernelSource>& kernels);

}  // namespace fourtune::runtime::cuda
