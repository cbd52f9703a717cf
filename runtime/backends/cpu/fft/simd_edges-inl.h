// Levels of a transform that move elements between an array and the work buffer themselves (SimdEdge of fft/simd.h).
// fft/simd.cpp includes this once per instruction set.
#if defined(FOURTUNE_FFT_EDGES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef FOURTUNE_FFT_EDGES_INL
#undef FOURTUNE_FFT_EDGES_INL
#else
#define FOURTUNE_FFT_EDGES_INL
#endif

#include <cstdint>

#include "hwy/highway.h"
#include "runtime/backends/cpu/fft/simd.h"
#include "runtime/backends/cpu/fft/simd_butterfly-inl.h"
#include "runtime/backends/cpu/fft/simd_kernels-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fourtune::runtime::cpu::HWY_NAMESPACE {

// An element from the numbers of one position of adjacent lines, and back. Lanes are in the order of put_parts().
template <class D, class T = hn::TFromD<D>>
HWY_INLINE Complex<hn::Vec<D>> load_adjacent_element(D d, const T* at, bool swap) {
  const auto a = hn::LoadU(d, at), b = hn::LoadU(d, at + kLanes<D>);
  const Complex<hn::Vec<D>> x{hn::OddEven(hn::DupEven(b), a), hn::OddEven(b, hn::DupOdd(a))};
  return swap ? Complex<hn::Vec<D>>{x.im, x.re} : x;
}
template <class D, class T = hn::TFromD<D>>
HWY_INLINE void store_adjacent_element(D d, Complex<hn::Vec<D>> x, T* at, bool swap) {
  if (swap) x = {x.im, x.re};
  hn::StoreU(hn::OddEven(hn::DupEven(x.im), x.re), d, at);
  hn::StoreU(hn::OddEven(x.im, hn::DupOdd(x.re)), d, at + kLanes<D>);
}

// kFrom, kTo: whether it reads and writes the arrays.
template <int R, class D, bool kFrom, bool kTo, class T = hn::TFromD<D>>
void edge_pass(const Blocks& b, const SimdEdge<T>& edge, const T* twiddles) {
  const D d;
  constexpr int L = kLanes<D>;
  const std::int64_t apart = b.m * b.width;  // elements
  Complex<hn::Vec<D>> x[R];
  std::int64_t first = 0;
  for (std::int64_t block = 0; block < b.blocks; ++block, first += (R - 1) * apart)
    for (std::int64_t i = 0; i < b.m; ++i) {
      const T* const w = twiddles + i * 2 * (R - 1);
      for (std::int64_t c = 0; c < b.width; ++c, ++first) {
        T* element = edge.work + first * 2 * L;
        for (int g = 0; g < edge.groups; ++g, element += edge.group) {
#pragma GCC unroll 16
          for (int j = 0; j < R; ++j) {
            const T* const at = element + j * apart * 2 * L;
            if constexpr (kFrom)
              x[j] = load_adjacent_element(d, edge.from + (first + j * apart) * edge.from_step + g * 2 * L, edge.swap);
            else
              x[j] = {hn::Load(d, at), hn::Load(d, at + L)};
          }
          Butterfly<R, D>::run(d, x);
#pragma GCC unroll 16
          for (int j = 0; j < R; ++j) {
            if (j > 0 && b.m > 1) x[j] = times(x[j], hn::Set(d, w[2 * j - 2]), hn::Set(d, w[2 * j - 1]));
            T* const at = element + j * apart * 2 * L;
            if constexpr (kTo)
              store_adjacent_element(d, x[j], edge.to + edge.places[first + j * apart] * edge.to_step + g * 2 * L,
                                     edge.swap);
            else
              hn::Store(x[j].re, d, at), hn::Store(x[j].im, d, at + L);
          }
        }
      }
    }
}

template <class D, bool kFrom, bool kTo, class T = hn::TFromD<D>>
void edge_pass_of(int radix, const Blocks& b, const SimdEdge<T>& edge, const T* w) {
  switch (radix) {
#define FOURTUNE_CASE(R) \
  case R:                \
    return edge_pass<R, D, kFrom, kTo>(b, edge, w);
    FOURTUNE_CASE(2)
    FOURTUNE_CASE(3)
    FOURTUNE_CASE(4)
    FOURTUNE_CASE(5)
    FOURTUNE_CASE(6)
    FOURTUNE_CASE(7)
    FOURTUNE_CASE(8)
    FOURTUNE_CASE(9)
    FOURTUNE_CASE(10)
    FOURTUNE_CASE(11)
    FOURTUNE_CASE(12)
    FOURTUNE_CASE(13)
    FOURTUNE_CASE(16)
#undef FOURTUNE_CASE
    default:  // not has_edge()
      return;
  }
}

template <class D, class T = hn::TFromD<D>>
void edge_level(const SimdFftPlan<T>& plan, const SimdAxis& axis, const SimdEdge<T>& edge) {
  const auto& level = edge.from != nullptr ? plan.levels.front() : plan.levels.back();
  const Blocks b{level.length / level.radix, axis.rows * (plan.n / level.length), axis.width, axis.width};
  const T* const w = plan.twiddles.data() + level.twiddles;
  edge.from == nullptr ? edge_pass_of<D, false, true>(level.radix, b, edge, w)
  : edge.to == nullptr ? edge_pass_of<D, true, false>(level.radix, b, edge, w)
                       : edge_pass_of<D, true, true>(level.radix, b, edge, w);
}

}  // namespace fourtune::runtime::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
