// The emulated device for the nonuniform executors.
#pragma once

#include <memory>

#include "runtime/backends/emulated/engine.h"
#include "runtime/backends/gpu/nufft_queue.h"

namespace fourtune::runtime::emulated {

// The caller's arrays are host memory; kernels see copies of them between guard pages. Memory that is not kept between
// two runs is NaN at the start of the next one. Each run uses these options, with the seed increased by one each time.
std::unique_ptr<gpu::Queue> make_queue(const RunOptions& options);

}  // namespace fourtune::runtime::emulated
