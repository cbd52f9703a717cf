// The half spectrum of one long real line, from and to the spectrum of its numbers taken as pairs: what split and merge
// (simd_kernels-inl.h) do for a line in each lane. Included once per instruction set by fft/simd.cpp and
// fft/single.cpp.
#if defined(FOURTUNE_FFT_HALVES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef FOURTUNE_FFT_HALVES_INL
#undef FOURTUNE_FFT_HALVES_INL
#else
#define FOURTUNE_FFT_HALVES_INL
#endif

#include "hwy/highway.h"
#include "runtime/backends/cpu/fft/simd.h"
#include "runtime/backends/cpu/fft/simd_butterfly-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fourtune::runtime::cpu::HWY_NAMESPACE {

// Positions k and m - k of a line, one after the other: those that fill no vector, and the middle.
template <class T>
void split_pair(T* line, std::int64_t k, const HalfLine<T>& half) {
  T *a = line + 2 * k, *b = line + 2 * (half.m - k);
  const T er = a[0] + b[0], ei = a[1] - b[1], dr = a[0] - b[0], di = a[1] + b[1];
  const T wr = half.turns[2 * k], wi = half.turns[2 * k + 1];
  const T p = wr * dr - wi * di, q = wr * di + wi * dr;
  const T scale = half.form.interior / 2, scale_im = half.form.conjugate ? -scale : scale;
  b[0] = scale * (er - q), b[1] = -scale_im * (ei + p);
  a[0] = scale * (er + q), a[1] = scale_im * (ei - p);
}
template <class T>
void merge_pair(const T* from, T* to, std::int64_t k, const HalfLine<T>& half) {
  const T scale = half.form.interior, scale_im = half.form.conjugate ? -scale : scale;
  const T ar = scale * from[2 * k], ai = scale_im * from[2 * k + 1];
  const T br = scale * from[2 * (half.m - k)], bi = scale_im * from[2 * (half.m - k) + 1];
  const T er = ar + br, ei = ai - bi, dr = ar - br, di = ai + bi;
  const T wr = half.turns[2 * k], wi = -half.turns[2 * k + 1];
  const T p = wr * dr - wi * di, q = wr * di + wi * dr;
  T *a = to + 2 * k, *b = to + 2 * (half.m - k);
  b[0] = er + q, b[1] = p - ei;
  a[0] = er - q, a[1] = ei + p;
}

// Whole vectors of positions from `first`; return the first position that is left.
#if HWY_TARGET == HWY_SCALAR
template <class D, class T>
std::int64_t split_vectors(T*, std::int64_t first, std::int64_t, const HalfLine<T>&) {
  return first;
}
template <class D, class T>
std::int64_t merge_vectors(const T*, T*, std::int64_t first, std::int64_t, const HalfLine<T>&) {
  return first;
}
#else
// Vectors of complex numbers as pairs.
template <class D>
struct Pairs {
  using V = hn::Vec<D>;
  D d;
  V exchanged(V v) const { return hn::Reverse2(d, v); }
  V conjugate(V v) const { return hn::OddEven(hn::Neg(v), v); }
  // The last pair first.
  V reversed(V v) const { return hn::Reverse2(d, hn::Reverse(d, v)); }
  // v w, and v conj(w) if `conjugated`.
  V times(V v, V w, bool conjugated) const {
    const V re = hn::DupEven(w), odd = hn::DupOdd(w), im = conjugated ? hn::Neg(odd) : odd;
    const V by_re = hn::Mul(re, v), turned = exchanged(v);
    return hn::OddEven(hn::MulAdd(im, turned, by_re), hn::NegMulAdd(im, turned, by_re));
  }
  V times_i(V v) const {
    const V turned = exchanged(v);
    return hn::OddEven(turned, hn::Neg(turned));
  }
};

template <class D, class T>
std::int64_t split_vectors(T* line, std::int64_t k, std::int64_t last, const HalfLine<T>& half) {
  const D d;
  const Pairs<D> pairs{d};
  constexpr std::int64_t P = kLanes<D> / 2;
  const T scale = half.form.interior / 2, flip = half.form.conjugate ? -scale : scale;
  const auto low_scale = hn::OddEven(hn::Set(d, flip), hn::Set(d, scale));
  const auto high_scale = pairs.conjugate(low_scale);
  for (; k + P <= last && 2 * k + 2 * P - 2 < half.m; k += P) {
    T *a = line + 2 * k, *b = line + 2 * (half.m - k - P + 1);
    const auto x = hn::LoadU(d, a), y = pairs.conjugate(pairs.reversed(hn::LoadU(d, b)));
    const auto even = hn::Add(x, y);
    const auto odd = pairs.times_i(pairs.times(hn::Sub(x, y), hn::LoadU(d, half.turns + 2 * k), false));
    hn::StoreU(hn::Mul(low_scale, hn::Sub(even, odd)), d, a);
    hn::StoreU(pairs.reversed(hn::Mul(high_scale, hn::Add(even, odd))), d, b);
  }
  return k;
}
template <class D, class T>
std::int64_t merge_vectors(const T* from, T* to, std::int64_t k, std::int64_t last, const HalfLine<T>& half) {
  const D d;
  const Pairs<D> pairs{d};
  constexpr std::int64_t P = kLanes<D> / 2;
  const T scale = half.form.interior, flip = half.form.conjugate ? -scale : scale;
  const auto low_scale = hn::OddEven(hn::Set(d, flip), hn::Set(d, scale));
  const auto high_scale = pairs.conjugate(low_scale);
  for (; k + P <= last && 2 * k + 2 * P - 2 < half.m; k += P) {
    const std::int64_t other = 2 * (half.m - k - P + 1);
    const auto x = hn::Mul(low_scale, hn::LoadU(d, from + 2 * k));
    const auto y = hn::Mul(high_scale, pairs.reversed(hn::LoadU(d, from + other)));
    const auto even = hn::Add(x, y);
    const auto odd = pairs.times_i(pairs.times(hn::Sub(x, y), hn::LoadU(d, half.turns + 2 * k), true));
    hn::StoreU(hn::Add(even, odd), d, to + 2 * k);
    hn::StoreU(pairs.reversed(pairs.conjugate(hn::Sub(even, odd))), d, to + other);
  }
  return k;
}
#endif

// For k from first to last - 1, at most m / 2, and the positions m - k.
template <class D, class T = hn::TFromD<D>>
void split_line(T* line, std::int64_t first, std::int64_t last, const HalfLine<T>& half) {
  std::int64_t k = first;
  if constexpr (kLanes<D> != 1) k = split_vectors<D>(line, k, last, half);
  for (; k < last; ++k) split_pair(line, k, half);
}
template <class D, class T = hn::TFromD<D>>
void merge_line(const T* from, T* to, std::int64_t first, std::int64_t last, const HalfLine<T>& half) {
  std::int64_t k = first;
  if constexpr (kLanes<D> != 1) k = merge_vectors<D>(from, to, k, last, half);
  for (; k < last; ++k) merge_pair(from, to, k, half);
}

}  // namespace fourtune::runtime::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
