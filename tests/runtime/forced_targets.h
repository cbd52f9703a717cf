// One instruction set for a while.
#pragma once

#include <hwy/targets.h>

#include <cstdint>

namespace fourtune::runtime::cpu {

// The widest of these sets runs here: the processor has it, and this build has kernels for it (FOURTUNE_WITHOUT_SETS).
inline bool can_run(std::int64_t targets) {
  const std::int64_t wide = targets & (HWY_AVX2 | HWY_AVX3);  // the wider one has the lower bit
  return (wide & -wide & ~(hwy::SupportedTargets() & HWY_TARGETS)) == 0;
}

// Restores the processor's instruction sets at the end.
struct ForcedTargets {
  explicit ForcedTargets(std::int64_t targets) { hwy::SetSupportedTargetsForTest(targets); }
  ~ForcedTargets() { hwy::SetSupportedTargetsForTest(0); }
};

}  // namespace fourtune::runtime::cpu
