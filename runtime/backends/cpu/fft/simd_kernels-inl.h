// The operations of SimdFftKernels except moves, on vectors of type tag D. Included once per instruction set by
// fft/simd.cpp (whole vectors) and fft/single.cpp (one lane).
#if defined(FOURTUNE_FFT_KERNELS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef FOURTUNE_FFT_KERNELS_INL
#undef FOURTUNE_FFT_KERNELS_INL
#else
#define FOURTUNE_FFT_KERNELS_INL
#endif

#include "hwy/highway.h"
#include "runtime/backends/cpu/fft/simd.h"
#include "runtime/backends/cpu/fft/simd_butterfly-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fourtune::runtime::cpu::HWY_NAMESPACE {

// Applies butterflies to `blocks` blocks of radix * m elements each, elements m apart; then twiddle factors if m > 1.
template <int R, class D>
void pass(hn::TFromD<D>* data, std::int64_t m, std::int64_t blocks, const hn::TFromD<D>* twiddles) {
  using T = hn::TFromD<D>;
  const D d;
  constexpr int L = kLanes<D>;
  const std::int64_t apart = m * 2 * L;
  Complex<hn::Vec<D>> x[R];
  if (m == 1) {
    for (T* at = data; at < data + blocks * R * 2 * L; at += R * 2 * L) {
#pragma GCC unroll 16
      for (int j = 0; j < R; ++j) x[j] = {hn::Load(d, at + j * 2 * L), hn::Load(d, at + j * 2 * L + L)};
      Butterfly<R, D>::run(d, x);
#pragma GCC unroll 16
      for (int j = 0; j < R; ++j) {
        hn::Store(x[j].re, d, at + j * 2 * L);
        hn::Store(x[j].im, d, at + j * 2 * L + L);
      }
    }
    return;
  }
  for (std::int64_t block = 0; block < blocks; ++block, data += R * apart) {
    const T* w = twiddles;
    for (T* at = data; at < data + apart; at += 2 * L, w += 2 * (R - 1)) {
#pragma GCC unroll 16
      for (int j = 0; j < R; ++j) x[j] = {hn::Load(d, at + j * apart), hn::Load(d, at + j * apart + L)};
      Butterfly<R, D>::run(d, x);
      hn::Store(x[0].re, d, at);
      hn::Store(x[0].im, d, at + L);
#pragma GCC unroll 16
      for (int j = 1; j < R; ++j) {
        const auto y = times(x[j], hn::Set(d, w[2 * j - 2]), hn::Set(d, w[2 * j - 1]));
        hn::Store(y.re, d, at + j * apart);
        hn::Store(y.im, d, at + j * apart + L);
      }
    }
  }
}

template <class D, class T = hn::TFromD<D>>
void run_level(const SimdFftPlan<T>& plan, std::size_t level, T* data, std::int64_t blocks) {
  const auto& l = plan.levels[level];
  const std::int64_t m = l.length / l.radix;
  const T* w = plan.twiddles.data() + l.twiddles;
  switch (l.radix) {
    case 2:
      return pass<2, D>(data, m, blocks, w);
    case 3:
      return pass<3, D>(data, m, blocks, w);
    case 4:
      return pass<4, D>(data, m, blocks, w);
    case 5:
      return pass<5, D>(data, m, blocks, w);
    case 6:
      return pass<6, D>(data, m, blocks, w);
    case 7:
      return pass<7, D>(data, m, blocks, w);
    case 8:
      return pass<8, D>(data, m, blocks, w);
    case 9:
      return pass<9, D>(data, m, blocks, w);
    case 10:
      return pass<10, D>(data, m, blocks, w);
    case 11:
      return pass<11, D>(data, m, blocks, w);
    case 12:
      return pass<12, D>(data, m, blocks, w);
    case 13:
      return pass<13, D>(data, m, blocks, w);
    case 16:
      return pass<16, D>(data, m, blocks, w);
    default:
      return;
  }
}

// Runs level by level once a block fits in the first-level cache, and block by block before that.
template <class D, class T = hn::TFromD<D>>
void transform_from(const SimdFftPlan<T>& plan, std::size_t level, T* data) {
  constexpr std::int64_t kElement = 2 * kLanes<D>, kCacheBytes = 32 * 1024;
  if (level == plan.levels.size()) return;
  const std::int64_t length = plan.levels[level].length;
  if (length * kElement * static_cast<std::int64_t>(sizeof(T)) <= kCacheBytes || level + 1 == plan.levels.size()) {
    for (std::size_t next = level; next < plan.levels.size(); ++next) {
      run_level<D>(plan, next, data, length / plan.levels[next].length);
    }
    return;
  }
  run_level<D>(plan, level, data, 1);
  const std::int64_t part = length / plan.levels[level].radix;
  for (std::int64_t q = 0; q < plan.levels[level].radix; ++q)
    transform_from<D>(plan, level + 1, data + q * part * kElement);
}
template <class D, class T = hn::TFromD<D>>
void transform(const SimdFftPlan<T>& plan, T* work) {
  transform_from<D>(plan, 0, work);
}

template <class D, class T = hn::TFromD<D>>
void twiddle(T* work, const std::int32_t* output, std::int64_t count, const T* table, const T* scalar) {
  const D d;
  constexpr int L = kLanes<D>;
  for (std::int64_t k = 0; k < count; ++k) {
    T* at = work + std::int64_t{output[k]} * 2 * L;
    const Complex<hn::Vec<D>> x{hn::Load(d, at), hn::Load(d, at + L)};
    const T* lane = table + k * 2 * L;
    const auto y = times(times(x, hn::Load(d, lane), hn::Load(d, lane + L)), hn::Set(d, scalar[2 * k]),
                         hn::Set(d, scalar[2 * k + 1]));
    hn::Store(y.re, d, at);
    hn::Store(y.im, d, at + L);
  }
}

template <class D, class T = hn::TFromD<D>>
void multiply(const T* from, const std::int32_t* index, std::int64_t count, const T* scalar, bool swap, T* to) {
  const D d;
  constexpr int L = kLanes<D>;
  for (std::int64_t k = 0; k < count; ++k) {
    const T* at = from + (index != nullptr ? std::int64_t{index[k]} : k) * 2 * L;
    const Complex<hn::Vec<D>> x{hn::Load(d, at), hn::Load(d, at + L)};
    const auto y = times(x, hn::Set(d, scalar[2 * k]), hn::Set(d, scalar[2 * k + 1]));
    hn::Store(swap ? y.im : y.re, d, to + k * 2 * L);
    hn::Store(swap ? y.re : y.im, d, to + k * 2 * L + L);
  }
}

template <class D, class T = hn::TFromD<D>>
void split(const T* work, const std::int32_t* output, std::int64_t m, const T* w, T interior, bool conjugate, T* half) {
  const D d;
  constexpr int L = kLanes<D>;
  const auto re0 = hn::Load(d, work), im0 = hn::Load(d, work + L);  // output[0] is 0
  hn::Store(hn::Add(re0, im0), d, half);
  hn::Store(hn::Zero(d), d, half + L);
  hn::Store(hn::Sub(re0, im0), d, half + m * 2 * L);
  hn::Store(hn::Zero(d), d, half + m * 2 * L + L);
  const auto scale = hn::Set(d, interior / 2), scale_im = hn::Set(d, conjugate ? -interior / 2 : interior / 2);
  for (std::int64_t k = 1; 2 * k <= m; ++k) {
    const T *a = work + std::int64_t{output[k]} * 2 * L, *b = work + std::int64_t{output[m - k]} * 2 * L;
    const auto ar = hn::Load(d, a), ai = hn::Load(d, a + L), br = hn::Load(d, b), bi = hn::Load(d, b + L);
    const auto er = hn::Add(ar, br), ei = hn::Sub(ai, bi);  // of the even-indexed numbers
    const Complex<hn::Vec<D>> odd{hn::Add(ai, bi), hn::Sub(br, ar)};
    const auto o = times(odd, hn::Set(d, w[2 * k]), hn::Set(d, w[2 * k + 1]));
    T *low = half + k * 2 * L, *high = half + (m - k) * 2 * L;
    hn::Store(hn::Mul(scale, hn::Sub(er, o.re)), d, high);
    hn::Store(hn::Mul(scale_im, hn::Sub(o.im, ei)), d, high + L);
    hn::Store(hn::Mul(scale, hn::Add(er, o.re)), d, low);
    hn::Store(hn::Mul(scale_im, hn::Add(ei, o.im)), d, low + L);
  }
}

template <class D, class T = hn::TFromD<D>>
void merge(const T* half, std::int64_t m, const T* w, T interior, bool conjugate, T* work) {
  const D d;
  constexpr int L = kLanes<D>;
  // Real and imaginary parts exchange places, because the transform that follows has sign -1 and this one needs +1.
  const auto first = hn::Load(d, half), last = hn::Load(d, half + m * 2 * L);
  hn::Store(hn::Sub(first, last), d, work);
  hn::Store(hn::Add(first, last), d, work + L);
  const auto scale = hn::Set(d, interior), scale_im = hn::Set(d, conjugate ? -interior : interior);
  for (std::int64_t k = 1; 2 * k <= m; ++k) {
    const T *a = half + k * 2 * L, *b = half + (m - k) * 2 * L;
    const auto ar = hn::Mul(scale, hn::Load(d, a)), ai = hn::Mul(scale_im, hn::Load(d, a + L));
    const auto br = hn::Mul(scale, hn::Load(d, b)), bi = hn::Mul(scale_im, hn::Load(d, b + L));
    const auto er = hn::Add(ar, br), ei = hn::Sub(ai, bi);
    const Complex<hn::Vec<D>> difference{hn::Sub(ar, br), hn::Add(ai, bi)};
    const auto o = times(difference, hn::Set(d, w[2 * k]), hn::Set(d, -w[2 * k + 1]));
    T *low = work + k * 2 * L, *high = work + (m - k) * 2 * L;
    // low = e + i o, high = conj(e - i o); stored as (im, re).
    hn::Store(hn::Sub(o.re, ei), d, high);
    hn::Store(hn::Add(er, o.im), d, high + L);
    hn::Store(hn::Add(ei, o.re), d, low);
    hn::Store(hn::Sub(er, o.im), d, low + L);
  }
}

}  // namespace fourtune::runtime::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
