// One instruction set for a while.
#pragma once

#include <hwy/targets.h>

#include <cstdint>

namespace fourtune::runtime::cpu {

// Restores the processor's instruction sets at the end.
struct ForcedTargets {
  explicit ForcedTargets(std::int64_t targets) { hwy::SetSupportedTargetsForTest(targets); }
  ~ForcedTargets() { hwy::SetSupportedTargetsForTest(0); }
};

}  // namespace fourtune::runtime::cpu
