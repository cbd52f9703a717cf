// Moves complex numbers between arrays of any strides and the vector layout of fft/simd.h. fft/simd.cpp includes this
// once per instruction set.
#if defined(FOURTUNE_FFT_MOVE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef FOURTUNE_FFT_MOVE_INL
#undef FOURTUNE_FFT_MOVE_INL
#else
#define FOURTUNE_FFT_MOVE_INL
#endif

#include <algorithm>
#include <cstdint>

#include "hwy/cache_control.h"
#include "hwy/highway.h"
#include "runtime/backends/cpu/fft/simd.h"
#include "runtime/backends/cpu/fft/simd_butterfly-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fourtune::runtime::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// The number of complex numbers, stored as pairs, that one vector holds.
template <class D>
constexpr int kPairs = kLanes<D> / 2;

// The first `count` numbers of a vector, at most all of them. The memory of the others is neither read nor written; a
// load has zeros there.
template <class D, class T>
HWY_INLINE hn::Vec<D> load_first(D d, const T* from, int count) {
#if HWY_TARGET <= HWY_AVX2
  return hn::MaskedLoad(hn::FirstN(d, static_cast<std::size_t>(count)), d, from);
#else
  HWY_ALIGN T some[kLanes<D>] = {};
  std::copy_n(from, count, some);
  return hn::Load(d, some);
#endif
}
template <class D, class T>
HWY_INLINE void store_first(hn::Vec<D> v, D d, T* to, int count) {
#if HWY_TARGET <= HWY_AVX2
  hn::BlendedStore(v, hn::FirstN(d, static_cast<std::size_t>(count)), d, to);
#else
  HWY_ALIGN T all[kLanes<D>];
  hn::Store(v, d, all);
  std::copy_n(all, count, to);
#endif
}

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
template <bool kFactor, class D, class T = hn::TFromD<D>>
void load_adjacent(T* work, const T* from, const SimdMove<T>& move) {
  const D d;
  constexpr int L = kLanes<D>;
  for (std::int64_t i = 0; i < move.size; ++i) {
    const T* at = from + i * move.step;
    const auto factor = hn::Set(d, kFactor ? move.factor[i] : T(1));
    T* element = work + (move.first + i) * 2 * L;
    for (int g = 0; g < move.groups; ++g, at += 2 * L, element += move.group) {
      put_parts<kFactor>(d, hn::LoadU(d, at), hn::LoadU(d, at + L), move.swap, factor, element);
    }
  }
}
template <bool kFactor, bool kPastCaches, class D, class T = hn::TFromD<D>>
void store_adjacent(const T* work, const std::int32_t* output, T* to, const SimdMove<T>& move) {
  const D d;
  constexpr int L = kLanes<D>;
  for (std::int64_t i = 0; i < move.size; ++i) {
    T* at = to + i * move.step;
    const T* element = work + std::int64_t{output[move.first + i]} * 2 * L;
    const auto factor = hn::Set(d, kFactor ? move.factor[i] : T(1));
    for (int g = 0; g < move.groups; ++g, at += 2 * L, element += move.group) {
      hn::Vec<D> a, b;
      get_parts<kFactor>(d, element, move.swap, factor, &a, &b);
      if constexpr (kPastCaches) {
        hn::Stream(a, d, at);
        hn::Stream(b, d, at + L);
      } else {
        hn::StoreU(a, d, at);
        hn::StoreU(b, d, at + L);
      }
    }
  }
  if constexpr (kPastCaches) hwy::FlushStream();  // others see these stores when they see later ones
}
template <class D, class T = hn::TFromD<D>>
bool may_pass_caches(const T* to, const SimdMove<T>& move) {
  constexpr std::uintptr_t kVector = kLanes<D> * sizeof(T);
  return move.past_caches && reinterpret_cast<std::uintptr_t>(to) % kVector == 0 &&
         static_cast<std::uintptr_t>(move.step) * sizeof(T) % kVector == 0;
}

// The same for a group of fewer lines than a vector has lanes.
template <bool kFactor, class D, class T = hn::TFromD<D>>
void load_few_adjacent(T* work, const T* from, const SimdMove<T>& move) {
  const D d;
  constexpr int L = kLanes<D>;
  const int low = std::min(2 * move.count, L), high = 2 * move.count - low;
  for (std::int64_t i = 0; i < move.size; ++i) {
    const T* at = from + i * move.step;
    const auto factor = hn::Set(d, kFactor ? move.factor[i] : T(1));
    const auto a = load_first(d, at, low), b = high > 0 ? load_first(d, at + L, high) : hn::Zero(d);
    put_parts<kFactor>(d, a, b, move.swap, factor, work + (move.first + i) * 2 * L);
  }
}
template <bool kFactor, class D, class T = hn::TFromD<D>>
void store_few_adjacent(const T* work, const std::int32_t* output, T* to, const SimdMove<T>& move) {
  const D d;
  constexpr int L = kLanes<D>;
  const int low = std::min(2 * move.count, L), high = 2 * move.count - low;
  for (std::int64_t i = 0; i < move.size; ++i) {
    T* at = to + i * move.step;
    hn::Vec<D> a, b;
    get_parts<kFactor>(d, work + std::int64_t{output[move.first + i]} * 2 * L, move.swap,
                       hn::Set(d, kFactor ? move.factor[i] : T(1)), &a, &b);
    store_first(a, d, at, low);
    if (high > 0) store_first(b, d, at + L, high);
  }
}

// For lines that are contiguous in the array but apart from each other: moves squares of positions times lines.
// kHalves: vectors of pairs that hold a position of all lines (1 where half of the lanes are idle). Idle lanes repeat
// the last line.
template <bool kFactor, int kHalves, class D, class T = hn::TFromD<D>>
void load_rows(T* work, const T* from, const SimdMove<T>& move) {
  const D d;
  constexpr int L = kLanes<D>, P = kPairs<D>;
  const std::int64_t numbers = 2 * move.size - (move.half ? 1 : 0);
  const T* line[kHalves * P];
  for (int r = 0; r < kHalves * P; ++r) line[r] = from + std::min(r, move.count - 1) * move.line;
  hn::Vec<D> v[kHalves][P];
  for (std::int64_t i = 0; i < move.size; i += P) {
    const auto left = static_cast<int>(std::min<std::int64_t>(L, numbers - 2 * i));
    for (int half = 0; half < kHalves; ++half) {
      for (int r = 0; r < P; ++r) {
        const T* at = line[half * P + r] + 2 * i;
        v[half][r] = left == L ? hn::LoadU(d, at) : load_first(d, at, left);
      }
      transpose_pairs(d, v[half]);
    }
    T* element = work + (move.first + i) * 2 * L;
    for (int r = 0; r < P; ++r) {
      if (2 * r >= left) break;
      put_parts<kFactor>(d, v[0][r], v[kHalves - 1][r], move.swap, hn::Set(d, kFactor ? move.factor[i + r] : T(1)),
                         element + r * 2 * L);
    }
  }
}
template <bool kFactor, int kHalves, class D, class T = hn::TFromD<D>>
void store_rows(const T* work, const std::int32_t* output, T* to, const SimdMove<T>& move) {
  const D d;
  constexpr int L = kLanes<D>, P = kPairs<D>;
  const std::int64_t numbers = 2 * move.size - (move.half ? 1 : 0);
  hn::Vec<D> v[2][P];
  for (std::int64_t i = 0; i < move.size; i += P) {
    const auto left = static_cast<int>(std::min<std::int64_t>(L, numbers - 2 * i));
    for (int r = 0; r < P; ++r) {
      const std::int64_t at = std::min(i + r, move.size - 1);
      get_parts<kFactor>(d, work + std::int64_t{output[move.first + at]} * 2 * L, move.swap,
                         hn::Set(d, kFactor ? move.factor[at] : T(1)), &v[0][r], &v[1][r]);
    }
    for (int half = 0; half < kHalves; ++half) {
      transpose_pairs(d, v[half]);
      for (int r = 0; r < P; ++r) {
        if (half * P + r >= move.count) break;
        T* const at = to + (half * P + r) * move.line + 2 * i;
        left == L ? hn::StoreU(v[half][r], d, at) : store_first(v[half][r], d, at, left);
      }
    }
  }
}

// For any strides and any number of lines: goes through one element's pairs on the stack.
template <bool kFactor, class D, class T = hn::TFromD<D>>
void load_any(T* work, const T* from, const SimdMove<T>& move) {
  const D d;
  constexpr int L = kLanes<D>;
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
template <bool kFactor, class D, class T = hn::TFromD<D>>
void store_any(const T* work, const std::int32_t* output, T* to, const SimdMove<T>& move) {
  const D d;
  constexpr int L = kLanes<D>;
  HWY_ALIGN T pairs[2 * L];
  for (std::int64_t i = 0; i < move.size; ++i) {
    hn::Vec<D> a, b;
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

template <bool kFactor, class D, class T = hn::TFromD<D>>
void load_with(T* work, const T* from, const SimdMove<T>& move) {
  constexpr int L = kLanes<D>;
  if (move.line == 2 && move.imag == 1 && !move.half)
    return move.count == L ? load_adjacent<kFactor, D>(work, from, move)
                           : load_few_adjacent<kFactor, D>(work, from, move);
  if (move.step == 2 && move.imag == 1)
    return 2 * move.count > L ? load_rows<kFactor, 2, D>(work, from, move) : load_rows<kFactor, 1, D>(work, from, move);
  load_any<kFactor, D>(work, from, move);
}
template <bool kFactor, class D, class T = hn::TFromD<D>>
void store_with(const T* work, const std::int32_t* output, T* to, const SimdMove<T>& move) {
  constexpr int L = kLanes<D>;
  if (move.line == 2 && move.imag == 1 && !move.half)
    return move.count != L                ? store_few_adjacent<kFactor, D>(work, output, to, move)
           : may_pass_caches<D>(to, move) ? store_adjacent<kFactor, true, D>(work, output, to, move)
                                          : store_adjacent<kFactor, false, D>(work, output, to, move);
  if (move.step == 2 && move.imag == 1)
    return 2 * move.count > L ? store_rows<kFactor, 2, D>(work, output, to, move)
                              : store_rows<kFactor, 1, D>(work, output, to, move);
  store_any<kFactor, D>(work, output, to, move);
}

template <class D, class T = hn::TFromD<D>>
void load(T* work, const T* from, const SimdMove<T>& move) {
  move.factor != nullptr ? load_with<true, D>(work, from, move) : load_with<false, D>(work, from, move);
}
template <class D, class T = hn::TFromD<D>>
void store(const T* work, const std::int32_t* output, T* to, const SimdMove<T>& move) {
  move.factor != nullptr ? store_with<true, D>(work, output, to, move) : store_with<false, D>(work, output, to, move);
}

}  // namespace fourtune::runtime::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
