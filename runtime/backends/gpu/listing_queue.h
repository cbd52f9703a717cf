// A device that does not exist, for executors that are only asked for their kernels or their bytes. Memory holds
// nothing and has no address, and nothing runs; points have to be trusted, as there are none to check.
#pragma once

#include <memory>
#include <vector>

#include "runtime/backends/gpu/nufft_queue.h"

namespace fourtune::runtime::gpu {

// Appends to `kernels` what is loaded; it outlives the queue.
std::unique_ptr<Queue> make_listing_queue(const DeviceTraits& traits, std::vector<generator::KernelSource>& kernels);

}  // namespace fourtune::runtime::gpu
