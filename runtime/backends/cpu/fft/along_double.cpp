// The passes of along.h in f64, for every instruction set. The two precisions are compiled apart, as each takes long.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/backends/cpu/fft/along_double.cpp"
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
AlongKernels<double> along_double() { return {}; }
#else
AlongKernels<double> along_double() {
  return {kLanes<SquareTag<double> >, &along_transform_of<double>, &along_first_of<double>, &along_later_of<double>};
}
#endif

}  // namespace fourtune::runtime::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fourtune::runtime::cpu {
namespace {
HWY_EXPORT(along_double);
}

template <>
const AlongKernels<double>& along_kernels() {
  static const AlongKernels<double> kernels = HWY_DYNAMIC_DISPATCH(along_double)();
  return kernels;
}

}  // namespace fourtune::runtime::cpu
#endif
