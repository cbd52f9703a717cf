// Shared by the vector kernels: one private row is kVectors vectors of Highway's Row tag. Included once per target.
#if defined(FOURTUNE_GRIDDER_SIMD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOURTUNE_GRIDDER_SIMD_INL_H_
#undef FOURTUNE_GRIDDER_SIMD_INL_H_
#else
#define FOURTUNE_GRIDDER_SIMD_INL_H_
#endif

#include <hwy/highway.h>

#include "runtime/backends/cpu/gridder/kernels.h"

// The vector kernels need vectors whose size is known at compile time and that hold at least one complex number, with
// fused multiply-add (locating relies on it). On other targets the plain C++ kernels are used.
#undef FOURTUNE_SIMD
#if HWY_TARGET == HWY_SCALAR || HWY_HAVE_SCALABLE || !HWY_NATIVE_FMA
#define FOURTUNE_SIMD 0
#else
#define FOURTUNE_SIMD 1
#endif

#if FOURTUNE_SIMD
HWY_BEFORE_NAMESPACE();
namespace fourtune::runtime::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
using Row = hn::CappedTag<T, kLine / sizeof(T)>;
template <class T>
using RowVec = hn::Vec<Row<T>>;
template <class T>
inline constexpr int kLanes = static_cast<int>(hn::MaxLanes(Row<T>()));
template <class T, int W>
inline constexpr int kSlots = row_slots(W, 2 * sizeof(T));
template <class T, int W>
inline constexpr int kVectors = 2 * kSlots<T, W> / kLanes<T>;

// (re, im, re, im, ...)
HWY_INLINE RowVec<float> broadcast(const std::complex<float>* c) {
  std::uint64_t bits;
  __builtin_memcpy(&bits, c, sizeof bits);
  const hn::Repartition<std::uint64_t, Row<float>> wide;
  return hn::BitCast(Row<float>(), hn::Set(wide, bits));
}
HWY_INLINE RowVec<double> broadcast(const std::complex<double>* c) {
  return hn::LoadDup128(Row<double>(), reinterpret_cast<const double*>(c));
}

// Loads the first N numbers at p, with zeros behind them; N is even. Nothing past them is read. Masked loads are used
// with AVX-512 only: earlier processors may fault on lanes that are masked out, and Highway then reads whole vectors.
template <int N, class D>
HWY_INLINE hn::Vec<D> load_first(D d, const hn::TFromD<D>* p) {
  constexpr int kAll = static_cast<int>(hn::MaxLanes(D()));
  if constexpr (N == kAll) {
    return hn::LoadU(d, p);
  } else if constexpr (HWY_TARGET <= HWY_AVX3) {
    return hn::MaskedLoad(hn::FirstN(d, N), d, p);
  } else if constexpr (2 * N <= kAll) {
    return hn::ZeroExtendVector(d, load_first<N>(hn::Half<D>(), p));
  } else {
    const hn::Half<D> half;
    return hn::Combine(d, load_first<N - kAll / 2>(half, p + kAll / 2), hn::LoadU(half, p));
  }
}
// Stores the first N numbers of v to p, and nothing past them.
template <int N, class D>
HWY_INLINE void store_first(D d, hn::Vec<D> v, hn::TFromD<D>* p) {
  constexpr int kAll = static_cast<int>(hn::MaxLanes(D()));
  if constexpr (N == kAll) {
    hn::StoreU(v, d, p);
  } else if constexpr (HWY_TARGET <= HWY_AVX3) {
    hn::BlendedStore(v, hn::FirstN(d, N), d, p);
  } else if constexpr (2 * N <= kAll) {
    const hn::Half<D> half;
    store_first<N>(half, hn::LowerHalf(half, v), p);
  } else {
    const hn::Half<D> half;
    hn::StoreU(hn::LowerHalf(half, v), half, p);
    store_first<N - kAll / 2>(half, hn::UpperHalf(half, v), p + kAll / 2);
  }
}

// Adds up the complex numbers in a vector.
template <class D>
HWY_INLINE std::complex<hn::TFromD<D>> sum_pairs(D d, hn::Vec<D> v) {
  using T = hn::TFromD<D>;
  if constexpr (hn::MaxLanes(D()) == 2) {
    alignas(16) T pair[2];
    hn::StoreU(v, d, pair);
    return {pair[0], pair[1]};
  } else if constexpr (sizeof(T) == 4 && hn::MaxLanes(D()) == 4) {
    alignas(16) T pair[4];
    hn::StoreU(hn::Add(v, hn::ConcatUpperUpper(d, v, v)), d, pair);
    return {pair[0], pair[1]};
  } else {
    const hn::Half<D> half;
    return sum_pairs(half, hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace fourtune::runtime::cpu
HWY_AFTER_NAMESPACE();
#endif  // FOURTUNE_SIMD

#endif  // toggle
