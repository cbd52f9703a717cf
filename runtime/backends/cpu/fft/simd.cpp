#include "runtime/backends/cpu/fft/simd.h"

// Instruction sets beyond AVX-512 foundation gain nothing here. Vectors of unknown length do not fit the fixed squares
// that moves transpose.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/backends/cpu/fft/simd.cpp"
#include "hwy/foreach_target.h"
// This must follow foreach_target.h, which includes this file once per target.
#include "hwy/highway.h"
#if HWY_TARGET != HWY_SCALAR
#include "runtime/backends/cpu/fft/simd_edges-inl.h"
#include "runtime/backends/cpu/fft/simd_halves-inl.h"
#include "runtime/backends/cpu/fft/simd_kernels-inl.h"
#include "runtime/backends/cpu/fft/simd_move-inl.h"
#endif

HWY_BEFORE_NAMESPACE();
namespace fourtune::runtime::cpu::HWY_NAMESPACE {

#if HWY_TARGET > HWY_AVX3  // no vectors of 512 bits
SimdFftKernels<float> narrow_float_kernels() { return {}; }
SimdFftKernels<double> narrow_double_kernels() { return {}; }
#endif
#if HWY_TARGET == HWY_SCALAR
SimdFftKernels<float> float_kernels() { return {}; }
SimdFftKernels<double> double_kernels() { return {}; }
#else

// Levels at edges are large, so that x86 processors from before AVX2 have none.
template <class D, class T = hn::TFromD<D> >
constexpr decltype(SimdFftKernels<T>::edge_level) edges() {
#if HWY_TARGET == HWY_SSE2 || HWY_TARGET == HWY_SSE4
  return nullptr;
#else
  return &edge_level<D>;
#endif
}

template <class D, class T = hn::TFromD<D> >
SimdFftKernels<T> kernels() {
  return {kLanes<D>,   &transform<D>, &transform_axis<D>, edges<D>(),    &load<D>,         &store<D>,
          &twiddle<D>, &multiply<D>,  &split<D>,          &merge<D>,     &spread_pairs<D>, &join_pairs<D>,
          &halve<D>,   &extend<D>,    &split_line<D>,     &merge_line<D>};
}
SimdFftKernels<float> float_kernels() { return kernels<hn::ScalableTag<float> >(); }
SimdFftKernels<double> double_kernels() { return kernels<hn::ScalableTag<double> >(); }
#if HWY_TARGET <= HWY_AVX3
SimdFftKernels<float> narrow_float_kernels() { return kernels<hn::CappedTag<float, 8> >(); }
SimdFftKernels<double> narrow_double_kernels() { return kernels<hn::CappedTag<double, 4> >(); }
#endif

#endif

}  // namespace fourtune::runtime::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fourtune::runtime::cpu {
namespace {

HWY_EXPORT(float_kernels);
HWY_EXPORT(double_kernels);
HWY_EXPORT(narrow_float_kernels);
HWY_EXPORT(narrow_double_kernels);

}  // namespace

template <>
const SimdFftKernels<float>& simd_fft_kernels() {
  static const SimdFftKernels<float> kernels = HWY_DYNAMIC_DISPATCH(float_kernels)();
  return kernels.lanes > 0 ? kernels : single_fft_kernels<float>();
}
template <>
const SimdFftKernels<double>& simd_fft_kernels() {
  static const SimdFftKernels<double> kernels = HWY_DYNAMIC_DISPATCH(double_kernels)();
  return kernels.lanes > 0 ? kernels : single_fft_kernels<double>();
}

template <>
const SimdFftKernels<float>& narrow_fft_kernels() {
  static const SimdFftKernels<float> kernels = HWY_DYNAMIC_DISPATCH(narrow_float_kernels)();
  return kernels;
}
template <>
const SimdFftKernels<double>& narrow_fft_kernels() {
  static const SimdFftKernels<double> kernels = HWY_DYNAMIC_DISPATCH(narrow_double_kernels)();
  return kernels;
}

}  // namespace fourtune::runtime::cpu
#endif
