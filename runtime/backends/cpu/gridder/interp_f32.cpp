// The kernels of gridder/simd_interp-inl.h in single precision, for every instruction set.
#include "runtime/backends/cpu/gridder/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/backends/cpu/gridder/interp_f32.cpp"
#include <hwy/foreach_target.h>

#include "runtime/backends/cpu/gridder/simd-inl.h"
#include "runtime/backends/cpu/gridder/tables.h"

#define FOURTUNE_REAL float
#include "runtime/backends/cpu/gridder/simd_aligned-inl.h"
#include "runtime/backends/cpu/gridder/simd_interp-inl.h"
#undef FOURTUNE_REAL

#if HWY_ONCE
namespace fourtune::runtime::cpu {
HWY_EXPORT(interp_kernels);
void refine_interpolate(GridderKernels<float>& kernels, const Tiling& tiling) {
  HWY_DYNAMIC_DISPATCH(interp_kernels)(kernels, tiling);
}
}  // namespace fourtune::runtime::cpu
#endif
