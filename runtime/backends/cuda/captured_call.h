// A library's call as a CUDA graph. The host then starts all of its kernels at once, as it does ours (launch_list.h): a
// short call through a library is bound by the host, which the library keeps busy for several microseconds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "runtime/backends/cuda/device.h"

namespace fourtune::runtime::cuda {

// Invariants:
// 1. A call is recorded when it is made for the second time, on a stream of this object. Nothing runs then.
// 2. It is recorded with its arrays, with other arrays, and with its own again. What differs in the kernels' parameters
//    with the arrays are addresses in them, and is all that later starts exchange; what differs with the same arrays,
//    too, is what the library leaves there unset, and stays as it was first.
// 3. It holds kernels alone. A call that does anything else, or that cannot be recorded, is refused for good, and the
//    caller makes it each time.
// 4. Arrays whose places differ from the recorded ones by no multiple of 256 bytes might take other kernels: the caller
//    makes such calls.
//
// Use from one thread at a time; the context must be current.
class CapturedCall {
 public:
  // Puts the work on the stream; asks the driver nothing about the arrays, and does not wait.
  using Call = std::function<void(void* in, void* out, CUstream stream)>;

  CapturedCall() = default;
  CapturedCall(const CapturedCall&) = delete;
  CapturedCall& operator=(const CapturedCall&) = delete;
  ~CapturedCall();

  // Starts what `call` would put on the stream; false: nothing was started, and the caller has to make the call. The
  // stream must not be captured by the application. Throws Error where the driver cannot start a recorded call.
  bool start(const std::shared_ptr<const Device>& device, const Call& call, void* in, void* out, CUstream stream);
  // Forgets the kernels, which a library may unload after this.
  void drop() noexcept;

 private:
  struct Node {
    CUgraphNode node = nullptr;
    CUkernelNodeParams with{};
    std::vector<std::byte> bytes;     // of its parameters
    std::vector<std::size_t> starts;  // of each
  };
  struct Address {
    std::size_t node = 0, place = 0;  // in its bytes
    bool of_output = false;
    std::uint64_t offset = 0;  // from the array's begin
  };
  bool record(const std::shared_ptr<const Device>& device, const Call& call);
  bool find_addresses(const std::vector<Node>& shifted, const std::vector<Node>& again);
  bool move_to(std::uint64_t in, std::uint64_t out);

  CUgraph graph_ = nullptr;
  CUgraphExec exec_ = nullptr;
  std::vector<Node> nodes_;
  std::vector<Address> addresses_;
  std::uint64_t in_ = 0, out_ = 0;  // the arrays of the last start
  int calls_ = 0;
  bool refused_ = false;
};

}  // namespace fourtune::runtime::cuda
