// Moves complex numbers between arrays of any strides and the vector layout of fft/simd.h. fft/simd.cpp includes this
// once per instruction set.
#if defined(FOURTUNE_FFT_MOVE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef FOURTUNE_FFT_MOVE_INL
#undef FOURTUNE_FFT_MOVE_INL
#else
#define FOURTUNE_FFT_MOVE_INL
#endif

#include <algorithm>

#include "hwy/highway.h"
#include "runtime/backends/cpu/fft/simd.h"
#include "runtime/backends/cpu/fft/simd_butterfly-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fourtune::runtime::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// The number of complex numbers, stored as pairs, that one vector holds.
template <class D>
constexpr int kPairs = kLanes<D> / 2;

// Transposes a square matrix of 128-bit blocks: block b of v[r] becomes block r of v[b].
template <class D, class V>
HWY_INLINE void transpose_blocks(D d, V* v) {
  constexpr int kBlocks = kLanes<D> * sizeof(hn::TFromD<D>) / 16;
  if constexpr (kBlocks == 2) {
    const V a = v[0], b = v[1];
    v[0] = hn::ConcatLowerLower(d, b, a);
    v[1] = hn::ConcatUpperUpper(d, b, a);
  } else if constexpr (kBlocks == 4) {
    V t[4];
    for (int r = 0; r < 2; ++r) {
      t[r] = hn::ConcatLowerLower(d, v[r + 2], v[r]);
      t[r + 2] = hn::ConcatUpperUpper(d, v[r + 2], v[r]);
    }
    for (int r = 0; r < 4; r += 2) {
      v[r] = hn::OddEvenBlocks(hn::SwapAdjacentBlocks(t[r + 1]), t[r]);
      v[r + 1] = hn::OddEvenBlocks(t[r + 1], hn::SwapAdjacentBlocks(t[r]));
    }
  }
}

// Transposes a square matrix of pairs: v[r] holds kPairs positions of line r before, and kPairs lines of position r
// after (or the other way round).
template <class D, class V>
HWY_INLINE void transpose_pairs(D d, V* v) {
  if constexpr (sizeof(hn::TFromD<D>) == 8) {
    transpose_blocks(d, v);
  } else {
    const hn::Repartition<uint64_t, D> d64;
    constexpr int kHalf = kPairs<D> / 2;
    V low[kHalf], high[kHalf];
    for (int r = 0; r < kHalf; ++r) {
      const auto a = hn::BitCast(d64, v[2 * r]), b = hn::BitCast(d64, v[2 * r + 1]);
      low[r] = hn::BitCast(d, hn::InterleaveLower(d64, a, b));
      high[r] = hn::BitCast(d, hn::InterleaveUpper(d64, a, b));
    }
    transpose_blocks(d, low);
    transpose_blocks(d, high);
    for (int r = 0; r < kHalf; ++r) {
      v[2 * r] = low[r];
      v[2 * r + 1] = high[r];
    }
  }
}

// Converts two vectors of pairs to one vector of real and one of imaginary parts, and back. The exchange stays within
// neighbouring lanes (one shuffle and one blend each), so the lines end up in a permuted order, the same for every
// element.
template <bool kFactor, class D, class V>
HWY_INLINE void put_parts(D d, V a, V b, bool swap, V factor, hn::TFromD<D>* element) {
  V re = hn::OddEven(hn::DupEven(b), a), im = hn::OddEven(b, hn::DupOdd(a));
  if constexpr (kFactor) {
    re = hn::Mul(re, factor);
    im = hn::Mul(im, factor);
  }
  hn::Store(re, d, element + (swap ? kLanes<D> : 0));
  hn::Store(im, d, element + (swap ? 0 : kLanes<D>));
}
template <bool kFactor, class D, class V>
HWY_INLINE void get_parts(D d, const hn::TFromD<D>* element, bool swap, V factor, V* a, V* b) {
  V re = hn::Load(d, element + (swap ? kLanes<D> : 0)), im = hn::Load(d, element + (swap ? 0 : kLanes<D>));
  if constexpr (kFactor) {
    re = hn::Mul(re, factor);
    im = hn::Mul(im, factor);
  }
  *a = hn::OddEven(hn::DupEven(im), re);
  *b = hn::OddEven(im, hn::DupOdd(re));
}

// For lines that are adjacent in the array.
template <bool kFactor, class T>
void load_adjacent(T* work, const T* from, const SimdMove<T>& move) {
  const hn::ScalableTag<T> d;
  constexpr int L = kLanes<decltype(d)>;
  for (std::int64_t i = 0; i < move.size; ++i) {
    const T* at = from + i * move.step;
    const auto factor = hn::Set(d, kFactor ? move.factor[i] : T(1));
    T* element = work + (move.first + i) * 2 * L;
    for (int g = 0; g < move.groups; ++g, at += 2 * L, element += move.group) {
      put_parts<kFactor>(d, hn::LoadU(d, at), hn::LoadU(d, at + L), move.swap, factor, element);
    }
  }
}
template <bool kFactor, class T>
void store_adjacent(const T* work, const std::int32_t* output, T* to, const SimdMove<T>& move) {
  const hn::ScalableTag<T> d;
  constexpr int L = kLanes<decltype(d)>;
  for (std::int64_t i = 0; i < move.size; ++i) {
    T* at = to + i * move.step;
    const T* element = work + std::int64_t{output[move.first + i]} * 2 * L;
    const auto factor = hn::Set(d, kFactor ? move.factor[i] : T(1));
    for (int g = 0; g < move.groups; ++g, at += 2 * L, element += move.group) {
      hn::Vec<decltype(d)> a, b;
      get_parts<kFactor>(d, element, move.swap, factor, &a, &b);
      hn::StoreU(a, d, at);
      hn::StoreU(b, d, at + L);
    }
  }
}

// For lines that are contiguous in the array but apart from each other: moves squares of positions times lines.
template <bool kFactor, class T>
void load_rows(T* work, const T* from, const SimdMove<T>& move) {
  const hn::ScalableTag<T> d;
  using D = decltype(d);
  constexpr int L = kLanes<D>, P = kPairs<D>;
  hn::Vec<D> v[2][P];
  for (std::int64_t i = 0; i < move.size; i += P) {
    for (int half = 0; half < 2; ++half) {
      for (int r = 0; r < P; ++r) v[half][r] = hn::LoadU(d, from + (half * P + r) * move.line + 2 * i);
      transpose_pairs(d, v[half]);
    }
    for (int r = 0; r < P; ++r) {
      put_parts<kFactor>(d, v[0][r], v[1][r], move.swap, hn::Set(d, kFactor ? move.factor[i + r] : T(1)),
                         work + (move.first + i + r) * 2 * L);
    }
  }
}
template <bool kFactor, class T>
void store_rows(const T* work, const std::int32_t* output, T* to, const SimdMove<T>& move) {
  const hn::ScalableTag<T> d;
  using D = decltype(d);
  constexpr int L = kLanes<D>, P = kPairs<D>;
  hn::Vec<D> v[2][P];
  for (std::int64_t i = 0; i < move.size; i += P) {
    for (int r = 0; r < P; ++r) {
      get_parts<kFactor>(d, work + std::int64_t{output[move.first + i + r]} * 2 * L, move.swap,
                         hn::Set(d, kFactor ? move.factor[i + r] : T(1)), &v[0][r], &v[1][r]);
    }
    for (int half = 0; half < 2; ++half) {
      transpose_pairs(d, v[half]);
      for (int r = 0; r < P; ++r) hn::StoreU(v[half][r], d, to + (half * P + r) * move.line + 2 * i);
    }
  }
}

// For any strides and any number of lines: goes through one element's pairs on the stack.
template <bool kFactor, class T>
void load_any(T* work, const T* from, const SimdMove<T>& move) {
  const hn::ScalableTag<T> d;
  constexpr int L = kLanes<decltype(d)>;
  HWY_ALIGN T pairs[2 * L] = {};
  for (std::int64_t i = 0; i < move.size; ++i) {
    for (int l = 0; l < move.count; ++l) {
      pairs[2 * l] = from[i * move.step + l * move.line];
      pairs[2 * l + 1] = from[i * move.step + l * move.line + move.imag];
    }
    put_parts<kFactor>(d, hn::Load(d, pairs), hn::Load(d, pairs + L), move.swap,
                       hn::Set(d, kFactor ? move.factor[i] : T(1)), work + (move.first + i) * 2 * L);
  }
}
template <bool kFactor, class T>
void store_any(const T* work, const std::int32_t* output, T* to, const SimdMove<T>& move) {
  const hn::ScalableTag<T> d;
  constexpr int L = kLanes<decltype(d)>;
  HWY_ALIGN T pairs[2 * L];
  for (std::int64_t i = 0; i < move.size; ++i) {
    hn::Vec<decltype(d)> a, b;
    get_parts<kFactor>(d, work + std::int64_t{output[move.first + i]} * 2 * L, move.swap,
                       hn::Set(d, kFactor ? move.factor[i] : T(1)), &a, &b);
    hn::Store(a, d, pairs);
    hn::Store(b, d, pairs + L);
    for (int l = 0; l < move.count; ++l) {
      to[i * move.step + l * move.line] = pairs[2 * l];
      to[i * move.step + l * move.line + move.imag] = pairs[2 * l + 1];
    }
  }
}

// Returns the part of a move after its first `done` positions.
template <class T>
SimdMove<T> rest_of(SimdMove<T> move, std::int64_t done) {
  move.first += done;
  move.size -= done;
  if (move.factor != nullptr) move.factor += done;
  return move;
}

template <bool kFactor, class T>
void load_with(T* work, const T* from, const SimdMove<T>& move) {
  constexpr int L = kLanes<hn::ScalableTag<T>>, P = L / 2;
  if (move.count == L && move.line == 2 && move.imag == 1) return load_adjacent<kFactor>(work, from, move);
  std::int64_t done = 0;
  if (move.count == L && move.step == 2 && move.imag == 1) {
    SimdMove<T> whole = move;
    whole.size = done = move.size / P * P;
    load_rows<kFactor>(work, from, whole);
  }
  load_any<kFactor>(work, from + done * move.step, rest_of(move, done));
}
template <bool kFactor, class T>
void store_with(const T* work, const std::int32_t* output, T* to, const SimdMove<T>& move) {
  constexpr int L = kLanes<hn::ScalableTag<T>>, P = L / 2;
  if (move.count == L && move.line == 2 && move.imag == 1) return store_adjacent<kFactor>(work, output, to, move);
  std::int64_t done = 0;
  if (move.count == L && move.step == 2 && move.imag == 1) {
    SimdMove<T> whole = move;
    whole.size = done = move.size / P * P;
    store_rows<kFactor>(work, output, to, whole);
  }
  store_any<kFactor>(work, output, to + done * move.step, rest_of(move, done));
}

template <class T>
void load(T* work, const T* from, const SimdMove<T>& move) {
  move.factor != nullptr ? load_with<true>(work, from, move) : load_with<false>(work, from, move);
}
template <class T>
void store(const T* work, const std::int32_t* output, T* to, const SimdMove<T>& move) {
  move.factor != nullptr ? store_with<true>(work, output, to, move) : store_with<false>(work, output, to, move);
}

}  // namespace fourtune::runtime::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
