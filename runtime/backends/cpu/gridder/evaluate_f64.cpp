// The kernels of gridder/simd_evaluate-inl.h in double precision, for every instruction set.
#include "runtime/backends/cpu/gridder/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/backends/cpu/gridder/evaluate_f64.cpp"
#include <hwy/foreach_target.h>

#include "runtime/backends/cpu/gridder/simd-inl.h"
#include "runtime/backends/cpu/gridder/tables.h"

#define FOURTUNE_REAL double
#include "runtime/backends/cpu/gridder/simd_compose-inl.h"
#include "runtime/backends/cpu/gridder/simd_evaluate-inl.h"
#include "runtime/backends/cpu/gridder/simd_line-inl.h"
#undef FOURTUNE_REAL

#if HWY_ONCE
namespace fourtune::runtime::cpu {
HWY_EXPORT(evaluate_kernels);
void refine_evaluate(GridderKernels<double>& kernels, const Tiling& tiling) {
  HWY_DYNAMIC_DISPATCH(evaluate_kernels)(kernels, tiling);
}
}  // namespace fourtune::runtime::cpu
#endif
