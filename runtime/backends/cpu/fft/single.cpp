// The operations of fft/simd.h on one line, for single lines, which would leave the other lanes of a vector idle, and
// for processors without vectors. Elements are plain complex numbers.
#include "runtime/backends/cpu/fft/simd.h"

#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/backends/cpu/fft/single.cpp"
#include "hwy/foreach_target.h"
// This must follow foreach_target.h, which includes this file once per target.
#include "hwy/highway.h"
#include "runtime/backends/cpu/fft/simd_halves-inl.h"
#include "runtime/backends/cpu/fft/simd_kernels-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fourtune::runtime::cpu::HWY_NAMESPACE {

template <class T>
void load_one(T* work, const T* from, const SimdMove<T>& move) {
  for (int g = 0; g < move.groups; ++g) {
    T* to = work + g * move.group + 2 * move.first;
    const T* at = from + g * move.line;
    for (std::int64_t i = 0; i < move.size; ++i, to += 2, at += move.step) {
      const T factor = move.factor != nullptr ? move.factor[i] : T(1);
      const bool half = move.half && i + 1 == move.size;
      to[move.swap ? 1 : 0] = factor * at[0];
      to[move.swap ? 0 : 1] = half ? T(0) : factor * at[move.imag];
    }
  }
}

template <class T>
void store_one(const T* work, const std::int32_t* output, T* to, const SimdMove<T>& move) {
  for (int g = 0; g < move.groups; ++g) {
    T* at = to + g * move.line;
    for (std::int64_t i = 0; i < move.size; ++i, at += move.step) {
      const T* element = work + g * move.group + 2 * std::int64_t{output[move.first + i]};
      const T factor = move.factor != nullptr ? move.factor[i] : T(1);
      at[0] = factor * element[move.swap ? 1 : 0];
      if (!move.half || i + 1 < move.size) at[move.imag] = factor * element[move.swap ? 0 : 1];
    }
  }
}

template <class T>
SimdFftKernels<T> one_lane() {
  using D = hn::CappedTag<T, 1>;
  return {1,           &transform<D>, &transform_axis<D>, nullptr,       &load_one<T>,     &store_one<T>,
          &twiddle<D>, &multiply<D>,  &split<D>,          &merge<D>,     &spread_pairs<D>, &join_pairs<D>,
          &halve<D>,   &extend<D>,    &split_line<D>,     &merge_line<D>};
}
SimdFftKernels<float> one_float() { return one_lane<float>(); }
SimdFftKernels<double> one_double() { return one_lane<double>(); }

}  // namespace fourtune::runtime::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fourtune::runtime::cpu {
namespace {

HWY_EXPORT(one_float);
HWY_EXPORT(one_double);

}  // namespace

template <>
const SimdFftKernels<float>& single_fft_kernels() {
  static const SimdFftKernels<float> kernels = HWY_DYNAMIC_DISPATCH(one_float)();
  return kernels;
}
template <>
const SimdFftKernels<double>& single_fft_kernels() {
  static const SimdFftKernels<double> kernels = HWY_DYNAMIC_DISPATCH(one_double)();
  return kernels;
}

}  // namespace fourtune::runtime::cpu
#endif
