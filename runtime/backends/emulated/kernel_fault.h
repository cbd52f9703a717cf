// What the emulator throws when a kernel does something that a GPU would not forgive.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "fourtune/status.h"

namespace fourtune::runtime::emulated {

enum class FaultKind {
  out_of_bounds,      // outside every buffer, shared memory and stack of this thread
  misaligned,         // a vector access that is not aligned to its size
  uninitialised,      // read of shared memory or workspace that nobody wrote
  race,               // two threads, at least one write, nothing that orders them
  early_read,         // touched the target of an asynchronous copy before its wait
  never_waited,       // left the kernel with asynchronous copies under way
  divergent_barrier,  // some threads of a block wait at another barrier, or have left
  deadlock,           // nobody can go on
  bad_warp_mask,      // a warp operation whose mask leaves out the caller, or reads a lane outside it
  bad_mbarrier,       // used before its initialisation, or more arrivals than it counts
  stack_overflow,     // local variables do not fit the emulator's stack
  undefined,          // undefined behaviour (RunOptions::undefined) or a trap
  endless,            // no end within RunOptions::seconds
};
const char* to_string(FaultKind kind) noexcept;

struct FaultPlace {
  std::string kernel;
  int line = 0;  // of the kernel's text; 0: unknown
  std::array<std::uint32_t, 3> block{};
  std::array<std::uint32_t, 3> thread{};
};

// Status is internal: a kernel that we made is wrong. what() tells kernel, line, block, thread and what happened.
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
