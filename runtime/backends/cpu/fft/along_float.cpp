// The passes of along.h in f32, for every instruction set. The two precisions are compiled apart, as each takes long.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/backends/cpu/fft/along_float.cpp"
#include "hwy/foreach_target.h"
// This must follow foreach_target.h, which includes this file once per target.
#include "hwy/highway.h"
#include "runtime/backends/cpu/fft/along.h"
#if HWY_TARGET != HWY_SCALAR
#include "runtime/backends/cpu/fft/simd_along-inl.h"
#endif

HWY_BEFORE_NAMESPACE();
namespace fourtune::runtime::cpu::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR
AlongKernels<float> along_float() { return {}; }
#else
AlongKernels<float> along_float() {
  return {kLanes<SquareTag<float> >, &along_transform_of<float>, &along_first_of<float>, &along_later_of<float>};
}
#endif

}  // namespace fourtune::runtime::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fourtune::runtime::cpu {
namespace {
HWY_EXPORT(along_float);
}

template <>
const AlongKernels<float>& along_kernels() {
  static const AlongKernels<float> kernels = HWY_DYNAMIC_DISPATCH(along_float)();
  return kernels;
}

}  // namespace fourtune::runtime::cpu
#endif
