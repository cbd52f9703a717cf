#include "runtime/backends/emulated/kernel_fault.h"

#include <fmt/format.h>

namespace fourtune::runtime::emulated {

const char* to_string(FaultKind kind) noexcept {
  switch (kind) {
    case FaultKind::out_of_bounds:
      return "out of bounds";
    case FaultKind::misaligned:
      return "misaligned";
    case FaultKind::uninitialised:
      return "uninitialised read";
    case FaultKind::race:
      return "race";
    case FaultKind::early_read:
      return "copy still under way";
    case FaultKind::overtakes:
      return "overtakes the kernel ahead";
    case FaultKind::never_waited:
      return "copy never waited for";
    case FaultKind::divergent_barrier:
      return "divergent barrier";
    case FaultKind::deadlock:
      return "deadlock";
    case FaultKind::bad_warp_mask:
      return "bad warp mask";
    case FaultKind::bad_mbarrier:
      return "bad mbarrier";
    case FaultKind::stack_overflow:
      return "stack overflow";
    case FaultKind::undefined:
      return "undefined behaviour";
    case FaultKind::endless:
      return "endless";
  }
  return "?";
}

KernelFault::KernelFault(FaultKind kind, FaultPlace place, const std::string& what)
    : Error(Status::internal,
            fmt::format("kernel {} line {}, block ({},{},{}), thread ({},{},{}): {}: {}", place.kernel,
                        place.line > 0 ? std::to_string(place.line) : "?", place.block[0], place.block[1],
                        place.block[2], place.thread[0], place.thread[1], place.thread[2], to_string(kind), what)),
      kind_(kind),
      place_(std::move(place)) {}

}  // namespace fourtune::runtime::emulated
