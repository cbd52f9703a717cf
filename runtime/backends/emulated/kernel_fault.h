// What the emulator throws when a kernel does something that would fail on a GPU.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "fourtune/status.h"

namespace fourtune::runtime::emulated {

enum class FaultKind {
  out_of_bounds,      // outside every buffer, shared memory and the stack of this thread
  misaligned,         // a vector access that is not aligned to its size
  uninitialised,      // a read of shared memory or workspace that was never written
  race,               // two threads, at least one write, and nothing that orders them
  early_read,         // the target of an asynchronous copy was touched before its wait
  overtakes,          // touches what the kernel ahead may use, or ends, without having waited for it (launch_order.cuh)
  never_waited,       // the kernel ended with asynchronous copies in progress
  divergent_barrier,  // some threads of a block wait at another barrier, or have ended
  deadlock,           // no thread can continue
  bad_warp_mask,      // a warp operation whose mask excludes the caller, or that reads a lane outside it
  bad_mbarrier,       // used before its initialisation, or more arrivals than it counts
  stack_overflow,     // local variables exceed the emulator's stack
  undefined,          // undefined behaviour (RunOptions::undefined) or a trap
  endless,            // does not end within RunOptions::seconds
};
const char* to_string(FaultKind kind) noexcept;

struct FaultPlace {
  std::string kernel;
  int line = 0;  // in the kernel's text; 0: unknown
  std::array<std::uint32_t, 3> block{};
  std::array<std::uint32_t, 3> thread{};
};

// The status is internal: a kernel that we generated is wrong. what() gives kernel, line, block, thread and the event.
class KernelFault : public Error {
 public:
  KernelFault(FaultKind kind, FaultPlace place, const std::string& what);
  FaultKind kind() const noexcept { return kind_; }
  const FaultPlace& place() const noexcept { return place_; }

 private:
  FaultKind kind_;
  FaultPlace place_;
};

}  // namespace fourtune::runtime::emulated
