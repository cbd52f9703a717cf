// The emulated device under the nonuniform executors.
#pragma once

#include <memory>

#include "runtime/backends/emulated/engine.h"
#include "runtime/backends/gpu/nufft_queue.h"

namespace fourtune::runtime::emulated {

// The caller's arrays are host memory, of which kernels see copies between guard pages. Whatever is not kept between
// two runs is NaN at the start of the next one. Each run has these options, the seed one higher each time.
std::unique_ptr<gpu::Queue> make_queue(const RunOptions& options);

}  // namespace fourtune::runtime::emulated
