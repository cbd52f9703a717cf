// The kernels of gridder_simd_spread-inl.h in single precision, for every instruction set.
#include "runtime/cpu/gridder_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/cpu/gridder_spread_f32.cpp"
#include <hwy/foreach_target.h>

#include "runtime/cpu/gridder_simd-inl.h"
#include "runtime/cpu/gridder_tables.h"

#define FOURTUNE_REAL float
#include "runtime/cpu/gridder_simd_aligned-inl.h"
#include "runtime/cpu/gridder_simd_spread-inl.h"
#undef FOURTUNE_REAL

#if HWY_ONCE
namespace fourtune::runtime::cpu {
HWY_EXPORT(spread_kernels);
void refine_spread(Kernels<float>& kernels, const Tiling& tiling) {
  HWY_DYNAMIC_DISPATCH(spread_kernels)(kernels, tiling);
}
}  // namespace fourtune::runtime::cpu
#endif
