// The kernels of gridder_simd_interp-inl.h in double precision, for every instruction set.
#include "runtime/cpu/gridder_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/cpu/gridder_interp_f64.cpp"
#include <hwy/foreach_target.h>

#include "runtime/cpu/gridder_simd-inl.h"
#include "runtime/cpu/gridder_tables.h"

#define FOURTUNE_REAL double
#include "runtime/cpu/gridder_simd_aligned-inl.h"
#include "runtime/cpu/gridder_simd_interp-inl.h"
#undef FOURTUNE_REAL

#if HWY_ONCE
namespace fourtune::runtime::cpu {
HWY_EXPORT(interp_kernels);
void refine_interpolate(Kernels<double>& kernels, const Tiling& tiling) {
  HWY_DYNAMIC_DISPATCH(interp_kernels)(kernels, tiling);
}
}  // namespace fourtune::runtime::cpu
#endif
