// One queue for several executors whose calls follow each other, as the transforms of a batch with points of their own.
// They share its kernels, and the memory that no run leaves anything in for a later one: grids and workspaces of the
// FFT.
#pragma once

#include <cstdint>
#include <memory>

#include "runtime/backends/gpu/nufft_queue.h"

namespace fourtune::runtime::gpu {

class SharedQueue {
 public:
  explicit SharedQueue(std::unique_ptr<Queue> queue);
  ~SharedQueue();
  // Of one executor; outlives this object with all that it needs.
  std::unique_ptr<Queue> share();
  // Bytes that executors hold together and each counts as its own, beyond the first.
  std::int64_t counted_twice() const;

 private:
  struct State;
  class Part;
  std::shared_ptr<State> state_;
};

}  // namespace fourtune::runtime::gpu
