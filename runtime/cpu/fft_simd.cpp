#include "runtime/cpu/fft_simd.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>

// Instruction sets beyond AVX-512 foundation add nothing here; vectors of unknown length do not suit the fixed squares
// that moves transpose.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/cpu/fft_simd.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.h, which includes this file once per target.
#include "hwy/highway.h"
#if HWY_TARGET != HWY_SCALAR
#include "runtime/cpu/fft_simd_butterfly-inl.h"
#include "runtime/cpu/fft_simd_move-inl.h"
#endif

HWY_BEFORE_NAMESPACE();
namespace fourtune::runtime::cpu::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR
SimdFftKernels<float> float_kernels() { return {}; }
SimdFftKernels<double> double_kernels() { return {}; }
#else

// Butterflies on `blocks` blocks of radix * m elements each, elements m apart, then twiddles unless m is 1.
template <int R, class T>
void pass(T* data, std::int64_t m, std::int64_t blocks, const T* twiddles) {
  const hn::ScalableTag<T> d;
  using D = decltype(d);
  constexpr int L = kLanes<D>;
  const std::int64_t apart = m * 2 * L;
  Complex<hn::Vec<D> > x[R];
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

template <class T>
void run_level(const SimdFftPlan<T>& plan, std::size_t level, T* data, std::int64_t blocks) {
  const auto& l = plan.levels[level];
  const std::int64_t m = l.length / l.radix;
  const T* w = plan.twiddles.data() + l.twiddles;
  switch (l.radix) {
    case 2:
      return pass<2>(data, m, blocks, w);
    case 3:
      return pass<3>(data, m, blocks, w);
    case 4:
      return pass<4>(data, m, blocks, w);
    case 5:
      return pass<5>(data, m, blocks, w);
    case 6:
      return pass<6>(data, m, blocks, w);
    case 7:
      return pass<7>(data, m, blocks, w);
    case 8:
      return pass<8>(data, m, blocks, w);
    case 9:
      return pass<9>(data, m, blocks, w);
    case 10:
      return pass<10>(data, m, blocks, w);
    case 11:
      return pass<11>(data, m, blocks, w);
    case 12:
      return pass<12>(data, m, blocks, w);
    case 13:
      return pass<13>(data, m, blocks, w);
    case 16:
      return pass<16>(data, m, blocks, w);
    default:
      return;
  }
}

// Level by level once a block fits in the first-level cache; block by block before.
template <class T>
void transform_from(const SimdFftPlan<T>& plan, std::size_t level, T* data) {
  constexpr std::int64_t kElement = 2 * kLanes<hn::ScalableTag<T> >, kCacheBytes = 32 * 1024;
  if (level == plan.levels.size()) return;
  const std::int64_t length = plan.levels[level].length;
  if (length * kElement * static_cast<std::int64_t>(sizeof(T)) <= kCacheBytes || level + 1 == plan.levels.size()) {
    for (std::size_t next = level; next < plan.levels.size(); ++next) {
      run_level(plan, next, data, length / plan.levels[next].length);
    }
    return;
  }
  run_level(plan, level, data, 1);
  const std::int64_t part = length / plan.levels[level].radix;
  for (std::int64_t q = 0; q < plan.levels[level].radix; ++q)
    transform_from(plan, level + 1, data + q * part * kElement);
}
template <class T>
void transform(const SimdFftPlan<T>& plan, T* work) {
  transform_from(plan, 0, work);
}

template <class T>
void twiddle(T* work, const std::int32_t* output, std::int64_t count, const T* table, const T* scalar) {
  const hn::ScalableTag<T> d;
  constexpr int L = kLanes<decltype(d)>;
  for (std::int64_t k = 0; k < count; ++k) {
    T* at = work + std::int64_t{output[k]} * 2 * L;
    const Complex<hn::Vec<decltype(d)> > x{hn::Load(d, at), hn::Load(d, at + L)};
    const T* lane = table + k * 2 * L;
    const auto y = times(times(x, hn::Load(d, lane), hn::Load(d, lane + L)), hn::Set(d, scalar[2 * k]),
                         hn::Set(d, scalar[2 * k + 1]));
    hn::Store(y.re, d, at);
    hn::Store(y.im, d, at + L);
  }
}

template <class T>
void multiply(const T* from, const std::int32_t* index, std::int64_t count, const T* scalar, bool swap, T* to) {
  const hn::ScalableTag<T> d;
  constexpr int L = kLanes<decltype(d)>;
  for (std::int64_t k = 0; k < count; ++k) {
    const T* at = from + (index != nullptr ? std::int64_t{index[k]} : k) * 2 * L;
    const Complex<hn::Vec<decltype(d)> > x{hn::Load(d, at), hn::Load(d, at + L)};
    const auto y = times(x, hn::Set(d, scalar[2 * k]), hn::Set(d, scalar[2 * k + 1]));
    hn::Store(swap ? y.im : y.re, d, to + k * 2 * L);
    hn::Store(swap ? y.re : y.im, d, to + k * 2 * L + L);
  }
}

template <class T>
void split(const T* work, const std::int32_t* output, std::int64_t m, const T* w, T interior, bool conjugate, T* half) {
  const hn::ScalableTag<T> d;
  constexpr int L = kLanes<decltype(d)>;
  const auto re0 = hn::Load(d, work), im0 = hn::Load(d, work + L);  // output[0] is 0
  hn::Store(hn::Add(re0, im0), d, half);
  hn::Store(hn::Zero(d), d, half + L);
  hn::Store(hn::Sub(re0, im0), d, half + m * 2 * L);
  hn::Store(hn::Zero(d), d, half + m * 2 * L + L);
  const auto scale = hn::Set(d, interior / 2), scale_im = hn::Set(d, conjugate ? -interior / 2 : interior / 2);
  for (std::int64_t k = 1; 2 * k <= m; ++k) {
    const T *a = work + std::int64_t{output[k]} * 2 * L, *b = work + std::int64_t{output[m - k]} * 2 * L;
    const auto ar = hn::Load(d, a), ai = hn::Load(d, a + L), br = hn::Load(d, b), bi = hn::Load(d, b + L);
    const auto er = hn::Add(ar, br), ei = hn::Sub(ai, bi);  // of the even numbers
    const Complex<hn::Vec<decltype(d)> > odd{hn::Add(ai, bi), hn::Sub(br, ar)};
    const auto o = times(odd, hn::Set(d, w[2 * k]), hn::Set(d, w[2 * k + 1]));
    T *low = half + k * 2 * L, *high = half + (m - k) * 2 * L;
    hn::Store(hn::Mul(scale, hn::Sub(er, o.re)), d, high);
    hn::Store(hn::Mul(scale_im, hn::Sub(o.im, ei)), d, high + L);
    hn::Store(hn::Mul(scale, hn::Add(er, o.re)), d, low);
    hn::Store(hn::Mul(scale_im, hn::Add(ei, o.im)), d, low + L);
  }
}

template <class T>
void merge(const T* half, std::int64_t m, const T* w, T interior, bool conjugate, T* work) {
  const hn::ScalableTag<T> d;
  constexpr int L = kLanes<decltype(d)>;
  // Real and imaginary parts go to each other's place: the transform that follows has sign -1, and this one needs +1.
  const auto first = hn::Load(d, half), last = hn::Load(d, half + m * 2 * L);
  hn::Store(hn::Sub(first, last), d, work);
  hn::Store(hn::Add(first, last), d, work + L);
  const auto scale = hn::Set(d, interior), scale_im = hn::Set(d, conjugate ? -interior : interior);
  for (std::int64_t k = 1; 2 * k <= m; ++k) {
    const T *a = half + k * 2 * L, *b = half + (m - k) * 2 * L;
    const auto ar = hn::Mul(scale, hn::Load(d, a)), ai = hn::Mul(scale_im, hn::Load(d, a + L));
    const auto br = hn::Mul(scale, hn::Load(d, b)), bi = hn::Mul(scale_im, hn::Load(d, b + L));
    const auto er = hn::Add(ar, br), ei = hn::Sub(ai, bi);
    const Complex<hn::Vec<decltype(d)> > difference{hn::Sub(ar, br), hn::Add(ai, bi)};
    const auto o = times(difference, hn::Set(d, w[2 * k]), hn::Set(d, -w[2 * k + 1]));
    T *low = work + k * 2 * L, *high = work + (m - k) * 2 * L;
    // low = e + i o, high = conj(e - i o); stored as (im, re).
    hn::Store(hn::Sub(o.re, ei), d, high);
    hn::Store(hn::Add(er, o.im), d, high + L);
    hn::Store(hn::Add(ei, o.re), d, low);
    hn::Store(hn::Sub(er, o.im), d, low + L);
  }
}

template <class T>
SimdFftKernels<T> kernels() {
  return {
      kLanes<hn::ScalableTag<T> >, &transform<T>, &load<T>, &store<T>, &twiddle<T>, &multiply<T>, &split<T>, &merge<T>};
}
SimdFftKernels<float> float_kernels() { return kernels<float>(); }
SimdFftKernels<double> double_kernels() { return kernels<double>(); }

#endif

}  // namespace fourtune::runtime::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fourtune::runtime::cpu {
namespace {

HWY_EXPORT(float_kernels);
HWY_EXPORT(double_kernels);

// Cost of a level of each radix per element, in operations, loads and stores included; radices that are not here are
// not implemented. Ratios from timings of the levels on an AVX-512 server core.
struct RadixCost {
  int radix;
  double cost;
};
constexpr RadixCost kRadices[] = {{16, 3.3}, {12, 3.2}, {10, 3.2}, {9, 3.2}, {8, 2.5},  {6, 2.6}, {5, 2.6},
                                  {4, 2.1},  {3, 2.3},  {2, 2.0},  {7, 3.4}, {11, 5.0}, {13, 6.0}};

// The cheapest factorisation, by dynamic programming over divisors.
struct Choice {
  double cost = std::numeric_limits<double>::infinity();
  int radix = 0;
};
const Choice& cheapest(std::int64_t n, std::map<std::int64_t, Choice>& known) {
  auto [entry, fresh] = known.try_emplace(n);
  if (!fresh) return entry->second;
  Choice best;
  if (n == 1) best.cost = 0;
  for (const RadixCost& r : kRadices) {
    if (n == 1 || n % r.radix != 0) continue;
    const double cost = r.cost + cheapest(n / r.radix, known).cost;
    if (cost < best.cost) best = {cost, r.radix};
  }
  return known[n] = best;
}

}  // namespace

bool simd_fft_supports(std::int64_t n) {
  if (n < 1 || n > std::numeric_limits<std::int32_t>::max()) return false;
  for (const int p : {2, 3, 5, 7, 11, 13}) {
    while (n % p == 0) n /= p;
  }
  return n == 1;
}

template <class T>
SimdFftPlan<T> make_simd_fft_plan(std::int64_t n) {
  SimdFftPlan<T> plan;
  plan.n = n;
  std::map<std::int64_t, Choice> known;
  std::vector<int> radices;
  for (std::int64_t rest = n; rest > 1; rest /= radices.back()) radices.push_back(cheapest(rest, known).radix);
  std::sort(radices.begin(), radices.end());
  std::int64_t length = n;
  plan.output.assign(1, 0);
  for (const int r : radices) {
    const std::int64_t m = length / r;
    plan.levels.push_back({r, length, plan.twiddles.size()});
    for (std::int64_t i = 0; m > 1 && i < m; ++i) {
      for (int q = 1; q < r; ++q) {
        const double turn = -2 * std::numbers::pi * static_cast<double>(i * q % length) / static_cast<double>(length);
        plan.twiddles.push_back(static_cast<T>(std::cos(turn)));
        plan.twiddles.push_back(static_cast<T>(std::sin(turn)));
      }
    }
    length = m;
  }
  // Output k = q1 + r1 (q2 + r2 (...)) is at q1 m1 + q2 m2 + ...
  plan.output.resize(static_cast<std::size_t>(n));
  for (std::int64_t k = 0; k < n; ++k) {
    std::int64_t rest = k, at = 0;
    for (const auto& level : plan.levels) {
      at += rest % level.radix * (level.length / level.radix);
      rest /= level.radix;
    }
    plan.output[static_cast<std::size_t>(k)] = static_cast<std::int32_t>(at);
  }
  return plan;
}
template SimdFftPlan<float> make_simd_fft_plan(std::int64_t);
template SimdFftPlan<double> make_simd_fft_plan(std::int64_t);

template <>
const SimdFftKernels<float>& simd_fft_kernels() {
  static const SimdFftKernels<float> kernels = HWY_DYNAMIC_DISPATCH(float_kernels)();
  return kernels;
}
template <>
const SimdFftKernels<double>& simd_fft_kernels() {
  static const SimdFftKernels<double> kernels = HWY_DYNAMIC_DISPATCH(double_kernels)();
  return kernels;
}

}  // namespace fourtune::runtime::cpu
#endif
