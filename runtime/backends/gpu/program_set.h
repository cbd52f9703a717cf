// Programs of a device that are bound once and run on arrays of the caller, one after the other. They share workspaces.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/backends/gpu/alignment.h"
#include "runtime/backends/gpu/nufft_runner.h"

namespace fourtune::runtime::gpu {

class ProgramSet {
 public:
  // An array of a program: as many bytes as the kernels may touch.
  struct Array {
    void* at = nullptr;
    std::int64_t bytes = 0;
    Access access = Access::in;
  };
  // stream: of the device, where programs run. Use from one thread at a time.
  ProgramSet(std::unique_ptr<Queue> queue, void* stream) : runner_(std::move(queue), kSlots, false), stream_(stream) {}

  // The number of the program for run(). Throws what compiling and allocating throw.
  int add(const generator::GpuProgram& program) {
    for (std::size_t w = 0; w < program.workspace_bytes.size(); ++w)
      if (program.workspace_bytes[w] > runner_.slot_bytes(static_cast<int>(w)))
        runner_.reserve(static_cast<int>(w), program.workspace_bytes[w], "a workspace");
    parts_.push_back({runner_.make(program), program.alignment});
    return static_cast<int>(parts_.size()) - 1;
  }
  // Does not wait. Allocates nothing after the first time, unless add() came between. Throws Error{invalid_argument} for
  // arrays that the kernels need at other addresses.
  void run(int number, const Array& first, const Array& second) {
    Bound& bound = parts_[static_cast<std::size_t>(number)];
    check_alignment(first.at, bound.alignment[0], "the first array");
    check_alignment(second.at, bound.alignment[1], "the second array");
    Run run(runner_.queue(), stream_);
    std::byte* const from = runner_.queue().open(first.at, first.bytes, first.access, "the first array");
    std::byte* const to = runner_.queue().open(second.at, second.bytes, second.access, "the second array");
    runner_.launch(bound.part, from, to);
    run.complete();
  }
  const DeviceTraits& traits() { return runner_.queue().traits(); }
  std::int64_t bytes() const {
    std::int64_t sum = runner_.held();
    for (const Bound& bound : parts_) sum += bound.part.bytes();
    return sum;
  }

 private:
  static constexpr int kSlots = 4;
  struct Bound {
    Part part;
    std::array<int, 2> alignment{1, 1};
  };
  Runner runner_;
  void* stream_;
  std::vector<Bound> parts_;
};

}  // namespace fourtune::runtime::gpu
