// The passes of along.h. Included once per instruction set by fft/along_float.cpp and fft/along_double.cpp.
#if defined(FOURTUNE_FFT_ALONG_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef FOURTUNE_FFT_ALONG_INL
#undef FOURTUNE_FFT_ALONG_INL
#else
#define FOURTUNE_FFT_ALONG_INL
#endif

#include <algorithm>
#include <utility>

#include "hwy/highway.h"
#include "runtime/backends/cpu/fft/along.h"
#include "runtime/backends/cpu/fft/simd_butterfly-inl.h"
#include "runtime/backends/cpu/fft/simd_move-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fourtune::runtime::cpu::HWY_NAMESPACE {

// Transposes a square matrix of numbers: lane l of rows[r] becomes lane r of columns[l].
template <class D, class V>
HWY_INLINE void transpose_square(D d, const V* rows, V* columns) {
  using T = hn::TFromD<D>;
  constexpr int kBlock = 16 / sizeof(T), kBlocks = kLanes<D> / kBlock;  // lanes of 128 bits, and how many of those
  V part[kBlock][kBlocks];
#pragma GCC unroll 16
  for (int g = 0; g < kBlocks; ++g) {
    const V* const r = rows + g * kBlock;
    if constexpr (kBlock == 2) {
      part[0][g] = hn::InterleaveLower(d, r[0], r[1]);
      part[1][g] = hn::InterleaveUpper(d, r[0], r[1]);
    } else {
      const hn::Repartition<double, D> d64;
      const auto a = hn::BitCast(d64, hn::InterleaveLower(d, r[0], r[1]));
      const auto b = hn::BitCast(d64, hn::InterleaveUpper(d, r[0], r[1]));
      const auto c = hn::BitCast(d64, hn::InterleaveLower(d, r[2], r[3]));
      const auto e = hn::BitCast(d64, hn::InterleaveUpper(d, r[2], r[3]));
      part[0][g] = hn::BitCast(d, hn::InterleaveLower(d64, a, c));
      part[1][g] = hn::BitCast(d, hn::InterleaveUpper(d64, a, c));
      part[2][g] = hn::BitCast(d, hn::InterleaveLower(d64, b, e));
      part[3][g] = hn::BitCast(d, hn::InterleaveUpper(d64, b, e));
    }
  }
#pragma GCC unroll 16
  for (int c = 0; c < kBlock; ++c) {
    transpose_blocks(d, part[c]);
#pragma GCC unroll 16
    for (int g = 0; g < kBlocks; ++g) columns[g * kBlock + c] = part[c][g];
  }
}

// Writes result q of neighbour j to place j R + q, for a vector of neighbours from `to` on.
template <int R, class D, class V, class T = hn::TFromD<D>>
HWY_INLINE void store_transposed(D d, const V* results, T* to) {
  constexpr int L = kLanes<D>;
#pragma GCC unroll 16
  for (int block = 0; block < (R + L - 1) / L; ++block) {
    const int q = std::min(block * L, R - L);  // the last square may overlap the one before
    V column[L];
    transpose_square(d, results + q, column);
#pragma GCC unroll 16
    for (int l = 0; l < L; ++l) hn::StoreU(column[l], d, to + (l / 2 + l % 2 * (L / 2)) * R + q);
  }
}
// The same for a line that threads share: run results go to each area, from its place j run on; `apart` lies between
// areas.
template <int R, class D, class V, class T = hn::TFromD<D>>
HWY_INLINE void store_transposed_apart(D d, const V* results, T* to, std::int64_t run, std::int64_t apart) {
  constexpr int L = kLanes<D>;
#pragma GCC unroll 16
  for (int q = 0; q < R; q += L) {
    V column[L];
    transpose_square(d, results + q, column);
    T* const at = to + q / run * apart + q % run;
#pragma GCC unroll 16
    for (int l = 0; l < L; ++l) hn::StoreU(column[l], d, at + (l / 2 + l % 2 * (L / 2)) * run);
  }
}

// The results of the first pass for the vector of neighbours from j on.
template <int R, bool kSwap, class D, class V, class T = hn::TFromD<D>>
HWY_INLINE void first_butterfly(D d, std::int64_t rest, std::int64_t j, const T* w, const T* in, V* real,
                                V* imaginary) {
  constexpr int L = kLanes<D>;
  Complex<V> x[R];
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r) {
    const T* const at = in + 2 * (r * rest + j);
    const V a = hn::LoadU(d, at), b = hn::LoadU(d, at + L);
    const V even = hn::OddEven(hn::DupEven(b), a), odd = hn::OddEven(b, hn::DupOdd(a));
    x[r] = kSwap ? Complex<V>{odd, even} : Complex<V>{even, odd};
  }
  Butterfly<R, D>::run(d, x);
  real[0] = x[0].re, imaginary[0] = x[0].im;
#pragma GCC unroll 16
  for (int q = 1; q < R; ++q) {
    const T* const turn = w + (q - 1) * 2 * L;
    const auto y = times(x[q], hn::Load(d, turn), hn::Load(d, turn + L));
    real[q] = y.re, imaginary[q] = y.im;
  }
}

template <int R, bool kSwap, class D, class T = hn::TFromD<D>>
void first_pass(std::int64_t rest, const T* w, const T* in, T* to, std::int64_t plane) {
  const D d;
  constexpr int L = kLanes<D>;
  static_assert(R >= L);
  for (std::int64_t group = 0; group < rest; group += L, w += 2 * (R - 1) * L) {
    const std::int64_t j = std::min(group, rest - L);
    hn::Vec<D> real[R], imaginary[R];
    first_butterfly<R, kSwap>(d, rest, j, w, in, real, imaginary);
    store_transposed<R>(d, real, to + j * R);
    store_transposed<R>(d, imaginary, to + plane + j * R);
  }
}

// One of equal parts of the neighbours, with results in all areas. The last vector overlaps the one before, so that the
// last part has both.
template <int R, bool kSwap, class D, class T = hn::TFromD<D>>
void first_pass_part(const AlongPlan<T>& plan, int part, const T* in, T* to) {
  const D d;
  constexpr int L = kLanes<D>;
  const std::int64_t rest = plan.passes.front().rest, whole = rest / L, run = R / plan.areas;
  const std::int64_t begin = whole * part / plan.areas;
  const std::int64_t end = part + 1 < plan.areas ? whole * (part + 1) / plan.areas : (rest + L - 1) / L;
  const T* w = plan.twiddles.template as<T>() + begin * 2 * (R - 1) * L;
  for (std::int64_t group = begin; group < end; ++group, w += 2 * (R - 1) * L) {
    const std::int64_t j = std::min(group * L, rest - L);
    hn::Vec<D> real[R], imaginary[R];
    first_butterfly<R, kSwap>(d, rest, j, w, in, real, imaginary);
    store_transposed_apart<R>(d, real, to + j * run, run, plan.area());
    store_transposed_apart<R>(d, imaginary, to + plan.plane + j * run, run, plan.area());
  }
}

template <int R, class D, class T = hn::TFromD<D>>
void middle_pass(std::int64_t rest, std::int64_t done, const T* w, const T* from, T* to, std::int64_t plane) {
  const D d;
  using V = hn::Vec<D>;
  constexpr int L = kLanes<D>;
  const std::int64_t apart = rest * done;
  for (std::int64_t j = 0; j < rest; ++j, w += 2 * (R - 1)) {
    for (std::int64_t group = 0; group < done; group += L) {
      const std::int64_t i = std::min(group, done - L);
      const T *const re = from + j * done + i, *const im = re + plane;
      T *const to_re = to + j * R * done + i, *const to_im = to_re + plane;
      Complex<V> x[R];
#pragma GCC unroll 16
      for (int r = 0; r < R; ++r) x[r] = {hn::LoadU(d, re + r * apart), hn::LoadU(d, im + r * apart)};
      Butterfly<R, D>::run(d, x);
      hn::StoreU(x[0].re, d, to_re), hn::StoreU(x[0].im, d, to_im);
#pragma GCC unroll 16
      for (int q = 1; q < R; ++q) {
        const auto y = times(x[q], hn::Set(d, w[2 * q - 2]), hn::Set(d, w[2 * q - 1]));
        hn::StoreU(y.re, d, to_re + q * done), hn::StoreU(y.im, d, to_im + q * done);
      }
    }
  }
}

// Where results of the last pass go: an area's value i is i % run of run i / run, and runs are `apart` from each other.
// Of a line that one thread transforms, all values are one run.
struct AlongRuns {
  std::int64_t done, run, apart;
};

template <int R, bool kSwap, class D, class T = hn::TFromD<D>>
void last_pass(const AlongRuns& runs, const T* from, std::int64_t plane, T* out, std::int64_t step) {
  const D d;
  using V = hn::Vec<D>;
  constexpr int L = kLanes<D>;
  for (std::int64_t first = 0; first < runs.done; first += runs.run, from += runs.run, out += 2 * runs.apart) {
    for (std::int64_t group = 0; group < runs.run; group += L) {
      const std::int64_t i = std::min(group, runs.run - L);
      Complex<V> x[R];
#pragma GCC unroll 16
      for (int r = 0; r < R; ++r) {
        const T* const re = from + r * runs.done + i;
        x[r] = {hn::LoadU(d, re), hn::LoadU(d, re + plane)};
      }
      Butterfly<R, D>::run(d, x);
#pragma GCC unroll 16
      for (int q = 0; q < R; ++q)
        hn::StoreInterleaved2(kSwap ? x[q].im : x[q].re, kSwap ? x[q].re : x[q].im, d, out + 2 * (q * step + i));
    }
  }
}

// Squares of the first pass have at most 256 bits: wider ones cost as much and fit fewer lengths.
template <class T>
using SquareTag = hn::CappedTag<T, 32 / sizeof(T)>;

// The functions of a radix, one of those of generator/plan/along.cpp; null for others. (Functors with the radix as a
// parameter would pass their captures through memory, which stalls short lines.)
#define FOURTUNE_FIRST_RADICES(CASE) CASE(8) CASE(9) CASE(10) CASE(12) CASE(15) CASE(16)
#define FOURTUNE_RADICES(CASE) \
  CASE(2) CASE(3) CASE(4) CASE(5) CASE(6) CASE(7) CASE(11) CASE(13) FOURTUNE_FIRST_RADICES(CASE)
template <bool kSwap, class T>
auto first_pass_of(int radix) {
  switch (radix) {
#define FOURTUNE_CASE(R) \
  case R:                \
    return &first_pass<R, kSwap, SquareTag<T>>;
    FOURTUNE_FIRST_RADICES(FOURTUNE_CASE)
#undef FOURTUNE_CASE
    default:
      return static_cast<decltype(&first_pass<8, kSwap, SquareTag<T>>)>(nullptr);
  }
}
// Null for radices whose results are not whole vectors for each area.
template <bool kSwap, class T>
auto first_pass_part_of(int radix) {
  switch (radix) {
#define FOURTUNE_CASE(R)                                                                                  \
  case R:                                                                                                 \
    if constexpr ((R) % (2 * kLanes<SquareTag<T>>) == 0) return &first_pass_part<R, kSwap, SquareTag<T>>; \
    break;
    FOURTUNE_FIRST_RADICES(FOURTUNE_CASE)
#undef FOURTUNE_CASE
    default:
      break;
  }
  return static_cast<decltype(&first_pass_part<16, kSwap, SquareTag<T>>)>(nullptr);
}
template <class D>
auto middle_pass_of(int radix) {
  switch (radix) {
#define FOURTUNE_CASE(R) \
  case R:                \
    return &middle_pass<R, D>;
    FOURTUNE_RADICES(FOURTUNE_CASE)
#undef FOURTUNE_CASE
    default:
      return static_cast<decltype(&middle_pass<2, D>)>(nullptr);
  }
}
template <bool kSwap, class D>
auto last_pass_of(int radix) {
  switch (radix) {
#define FOURTUNE_CASE(R) \
  case R:                \
    return &last_pass<R, kSwap, D>;
    FOURTUNE_RADICES(FOURTUNE_CASE)
#undef FOURTUNE_CASE
    default:
      return static_cast<decltype(&last_pass<2, kSwap, D>)>(nullptr);
  }
}
#undef FOURTUNE_RADICES
#undef FOURTUNE_FIRST_RADICES

// The widest vectors that the values done fill. Of two passes, the second one would wait for pairs of narrow vectors
// that the first one has just written.
template <class T>
bool is_wide(const AlongPlan<T>& plan, std::int64_t done) {
  return plan.passes.size() > 2 && done >= kLanes<hn::ScalableTag<T>>;
}
// The last pass of an area: looked up once for all lines.
template <bool kSwap, class T>
struct LastPass {
  AlongRuns runs;
  std::int64_t step;
  decltype(last_pass_of<kSwap, SquareTag<T>>(0)) run;
};
template <bool kSwap, class T>
LastPass<kSwap, T> last_pass_of_plan(const AlongPlan<T>& plan) {
  const auto& last = plan.passes.back();
  const std::int64_t radix = plan.passes.front().radix, done = last.done / plan.areas;
  const bool shared = plan.areas > 1;
  const AlongRuns runs{done, shared ? radix / plan.areas : done, shared ? radix : done};
  return {runs, last.done,
          is_wide(plan, runs.run) ? last_pass_of<kSwap, hn::ScalableTag<T>>(last.radix)
                                  : last_pass_of<kSwap, SquareTag<T>>(last.radix)};
}

// All passes but the first of an area, whose values are in its first pair of planes. out: of the area's value 0.
template <bool kSwap, class T>
HWY_INLINE void later_passes(const AlongPlan<T>& plan, const LastPass<kSwap, T>& last, T* area, T* out) {
  const T* const w = plan.twiddles.template as<T>();
  T *from = area, *to = area + 2 * plan.plane;
  for (std::size_t p = 1; p + 1 < plan.passes.size(); ++p) {
    const auto& pass = plan.passes[p];
    const std::int64_t done = plan.areas > 1 ? pass.done / plan.areas : pass.done;
    const auto run =
        is_wide(plan, done) ? middle_pass_of<hn::ScalableTag<T>>(pass.radix) : middle_pass_of<SquareTag<T>>(pass.radix);
    run(pass.rest, done, w + pass.twiddles, from, to, plan.plane);
    std::swap(from, to);
  }
  last.run(last.runs, from, plan.plane, out, last.step);
}

template <bool kSwap, class T>
void along_transform(const AlongPlan<T>& plan, const AlongLines<T>& lines, T* work) {
  const auto& first = plan.passes.front();
  const auto run_first = first_pass_of<kSwap, T>(first.radix);
  const auto last = last_pass_of_plan<kSwap>(plan);
  const T* const w = plan.twiddles.template as<T>();
  for (std::int64_t line = 0; line < lines.count; ++line) {
    run_first(first.rest, w, lines.in + line * lines.in_distance, work, plan.plane);
    later_passes<kSwap>(plan, last, work, lines.out + line * lines.out_distance);
  }
}

template <class T>
void along_transform_of(const AlongPlan<T>& plan, const AlongLines<T>& lines, T* work, bool swap) {
  swap ? along_transform<true>(plan, lines, work) : along_transform<false>(plan, lines, work);
}
template <class T>
void along_first_of(const AlongPlan<T>& plan, int part, const T* in, T* work, bool swap) {
  const int radix = plan.passes.front().radix;
  (swap ? first_pass_part_of<true, T>(radix) : first_pass_part_of<false, T>(radix))(plan, part, in, work);
}
template <class T>
void along_later_of(const AlongPlan<T>& plan, int area, T* work, T* out, bool swap) {
  T* const of = work + area * plan.area();
  T* const to = out + 2 * (area * (plan.passes.front().radix / plan.areas));
  swap ? later_passes<true>(plan, last_pass_of_plan<true>(plan), of, to)
       : later_passes<false>(plan, last_pass_of_plan<false>(plan), of, to);
}

}  // namespace fourtune::runtime::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
