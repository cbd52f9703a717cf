// One queue for several executors whose calls follow each other, such as the transforms of a batch with distinct
// points. The executors share its kernels, and the memory that carries nothing from one run to the next: grids and
// workspaces of the FFT.
#pragma once

#include <cstdint>
#include <memory>

#include "runtime/backends/gpu/nufft_queue.h"

namespace fourtune::runtime::gpu {

class SharedQueue {
 public:
  explicit SharedQueue(std::unique_ptr<Queue> queue);
  ~SharedQueue();
  // The queue for one executor; it may outlive this object and keeps alive everything it needs.
  std::unique_ptr<Queue> share();
  // Bytes that several executors hold together and each counts as its memory, beyond the first count.
  std::int64_t counted_twice() const;

 private:
  struct State;
  class Handle;
  std::shared_ptr<State> state_;
};

}  // namespace fourtune::runtime::gpu
