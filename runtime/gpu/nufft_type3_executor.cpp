#include "runtime/gpu/nufft_executor.h"
namespace fourtune::runtime::gpu {
std::unique_ptr<Executor> make_gpu_type3_executor(const Problem&, const generator::Plan&, const ExecutorOptions&,
                                                  std::unique_ptr<Queue>) {
  throw Error(Status::unsupported, "type 3 does not run on a GPU yet; use backend=cpu");
}
}  // namespace fourtune::runtime::gpu
