// The operations of SimdFftKernels except moves, on vectors of type tag D. Included once per instruction set by
// fft/simd.cpp (whole vectors) and fft/single.cpp (one lane).
#if defined(FOURTUNE_FFT_KERNELS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef FOURTUNE_FFT_KERNELS_INL
#undef FOURTUNE_FFT_KERNELS_INL
#else
#define FOURTUNE_FFT_KERNELS_INL
#endif

#include <algorithm>

#include "generator/plan/lane_radices.h"
#include "hwy/highway.h"
#include "runtime/backends/cpu/fft/simd.h"
#include "runtime/backends/cpu/fft/simd_butterfly-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fourtune::runtime::cpu::HWY_NAMESPACE {

// The elements of a level: `blocks` blocks one after the other, each of radix * m positions of `width` elements, of
// which the first `count` are transformed.
struct Blocks {
  std::int64_t m, blocks, width, count;
};

// Applies butterflies between positions m apart; then twiddle factors if m > 1.
template <int R, class D>
void pass(hn::TFromD<D>* data, const Blocks& b, const hn::TFromD<D>* twiddles) {
  using T = hn::TFromD<D>;
  const D d;
  constexpr int L = kLanes<D>;
  const std::int64_t apart = b.m * b.width * 2 * L;
  Complex<hn::Vec<D>> x[R];
  if (b.m == 1) {
    for (std::int64_t block = 0; block < b.blocks; ++block, data += R * apart) {
      for (T* at = data; at < data + b.count * 2 * L; at += 2 * L) {
#pragma GCC unroll 16
        for (int j = 0; j < R; ++j) x[j] = {hn::Load(d, at + j * apart), hn::Load(d, at + j * apart + L)};
        Butterfly<R, D>::run(d, x);
#pragma GCC unroll 16
        for (int j = 0; j < R; ++j) {
          hn::Store(x[j].re, d, at + j * apart);
          hn::Store(x[j].im, d, at + j * apart + L);
        }
      }
    }
    return;
  }
  for (std::int64_t block = 0; block < b.blocks; ++block, data += R * apart) {
    const T* w = twiddles;
    for (T* first = data; first < data + apart; first += b.width * 2 * L, w += 2 * (R - 1)) {
      for (T* at = first; at < first + b.count * 2 * L; at += 2 * L) {
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
}

// One butterfly of an odd prime radix that registers do not hold, at positions `apart` numbers apart. roots: for each
// output q and pair of inputs j, both from 1 to (radix-1)/2, cos and sin of 2 pi q j / radix. w: twiddle factors of
// outputs 1 .. radix - 1, or null.
template <class D, class T = hn::TFromD<D>>
void prime_butterfly(T* at, int radix, std::int64_t apart, const T* roots, const T* w) {
  constexpr int L = kLanes<D>, kHalf = generator::kLargestSummed / 2, kTogether = 2;
  const D d;
  using V = hn::Vec<D>;
  HWY_ALIGN T pairs[kHalf * 4 * L];  // of each pair of inputs, sum and difference
  const int half = radix / 2;
  const Complex<V> x0{hn::Load(d, at), hn::Load(d, at + L)};
  Complex<V> all = x0;
  for (int j = 0; j < half; ++j) {
    const T *a = at + (j + 1) * apart, *b = at + (radix - 1 - j) * apart;
    const Complex<V> low{hn::Load(d, a), hn::Load(d, a + L)}, high{hn::Load(d, b), hn::Load(d, b + L)};
    const auto sum = low + high, difference = low - high;
    all = all + sum;
    T* const pair = pairs + j * 4 * L;
    hn::Store(sum.re, d, pair), hn::Store(sum.im, d, pair + L);
    hn::Store(difference.re, d, pair + 2 * L), hn::Store(difference.im, d, pair + 3 * L);
  }
  hn::Store(all.re, d, at), hn::Store(all.im, d, at + L);
  const auto put = [&](int q, Complex<V> x) {
    if (w != nullptr) x = times(x, hn::Set(d, w[2 * q - 2]), hn::Set(d, w[2 * q - 1]));
    hn::Store(x.re, d, at + q * apart), hn::Store(x.im, d, at + q * apart + L);
  };
  for (int q = 1; q <= half; q += kTogether) {
    // The last outputs of an odd number of them are computed twice.
    const int second = std::min(q + 1, half);
    const T *r0 = roots + (q - 1) * 2 * half, *r1 = roots + (second - 1) * 2 * half;
    Complex<V> c0 = x0, c1 = x0, s0{hn::Zero(d), hn::Zero(d)}, s1 = s0;
    for (int j = 0; j < half; ++j) {
      const T* const pair = pairs + j * 4 * L;
      const V sum_re = hn::Load(d, pair), sum_im = hn::Load(d, pair + L);
      const V difference_re = hn::Load(d, pair + 2 * L), difference_im = hn::Load(d, pair + 3 * L);
      const V cos0 = hn::Set(d, r0[2 * j]), sin0 = hn::Set(d, r0[2 * j + 1]);
      const V cos1 = hn::Set(d, r1[2 * j]), sin1 = hn::Set(d, r1[2 * j + 1]);
      c0 = {hn::MulAdd(sum_re, cos0, c0.re), hn::MulAdd(sum_im, cos0, c0.im)};
      s0 = {hn::MulAdd(difference_re, sin0, s0.re), hn::MulAdd(difference_im, sin0, s0.im)};
      c1 = {hn::MulAdd(sum_re, cos1, c1.re), hn::MulAdd(sum_im, cos1, c1.im)};
      s1 = {hn::MulAdd(difference_re, sin1, s1.re), hn::MulAdd(difference_im, sin1, s1.im)};
    }
    put(q, minus_i(c0, s0)), put(radix - q, plus_i(c0, s0));
    put(second, minus_i(c1, s1)), put(radix - second, plus_i(c1, s1));
  }
}

template <class D, class T = hn::TFromD<D>>
void prime_pass(T* data, int radix, const Blocks& b, const T* roots, const T* twiddles) {
  constexpr int L = kLanes<D>;
  const std::int64_t apart = b.m * b.width * 2 * L;
  for (std::int64_t block = 0; block < b.blocks; ++block, data += radix * apart)
    for (std::int64_t i = 0; i < b.m; ++i)
      for (std::int64_t x = 0; x < b.count; ++x)
        prime_butterfly<D>(data + (i * b.width + x) * 2 * L, radix, apart, roots,
                           b.m > 1 ? twiddles + i * 2 * (radix - 1) : nullptr);
}

template <class D, class T = hn::TFromD<D>>
void transform(const SimdFftPlan<T>& plan, T* work, T* scratch);
template <class D, class T = hn::TFromD<D>>
void multiply(const T* from, const std::int32_t* index, std::int64_t count, const T* scalar, bool swap, T* to);

// One butterfly of a prime radix as a convolution; arguments as above.
template <class D, class T = hn::TFromD<D>>
void convolved_butterfly(T* at, std::int64_t apart, const SimdFftConvolution<T>& c, const T* w, T* scratch) {
  constexpr int L = kLanes<D>;
  const D d;
  const auto count = static_cast<std::int64_t>(c.inputs.size());
  T *const values = scratch, *const product = scratch + c.plan.n * 2 * L;
  for (std::int64_t i = 0; i < count; ++i) {
    const T* const from = at + c.inputs[static_cast<std::size_t>(i)] * apart;
    hn::Store(hn::Load(d, from), d, values + i * 2 * L), hn::Store(hn::Load(d, from + L), d, values + i * 2 * L + L);
  }
  std::fill(values + count * 2 * L, values + c.plan.n * 2 * L, T(0));
  transform<D>(c.plan, values, static_cast<T*>(nullptr));
  multiply<D>(values, c.plan.output.data(), c.plan.n, c.filter.data(), true, product);
  transform<D>(c.plan, product, static_cast<T*>(nullptr));
  const Complex<hn::Vec<D>> x0{hn::Load(d, at), hn::Load(d, at + L)};
  // The first result of the transform is the sum of all values.
  hn::Store(hn::Add(x0.re, hn::Load(d, values)), d, at), hn::Store(hn::Add(x0.im, hn::Load(d, values + L)), d, at + L);
  for (std::int64_t k = 0; k < count; ++k) {
    const T* const from = product + std::int64_t{c.plan.output[static_cast<std::size_t>(k)]} * 2 * L;
    const std::int64_t q = c.outputs[static_cast<std::size_t>(k)];
    Complex<hn::Vec<D>> x{hn::Add(x0.re, hn::Load(d, from + L)), hn::Add(x0.im, hn::Load(d, from))};
    if (w != nullptr) x = times(x, hn::Set(d, w[2 * q - 2]), hn::Set(d, w[2 * q - 1]));
    hn::Store(x.re, d, at + q * apart), hn::Store(x.im, d, at + q * apart + L);
  }
}

template <class D, class T = hn::TFromD<D>>
void convolved_pass(T* data, int radix, const Blocks& b, const SimdFftConvolution<T>& c, const T* twiddles,
                    T* scratch) {
  constexpr int L = kLanes<D>;
  const std::int64_t apart = b.m * b.width * 2 * L;
  for (std::int64_t block = 0; block < b.blocks; ++block, data += radix * apart)
    for (std::int64_t i = 0; i < b.m; ++i)
      for (std::int64_t x = 0; x < b.count; ++x)
        convolved_butterfly<D>(data + (i * b.width + x) * 2 * L, apart, c,
                               b.m > 1 ? twiddles + i * 2 * (radix - 1) : nullptr, scratch);
}

// What a level runs over, and the plan's scratch elements.
template <class T>
struct LevelData {
  T *data, *scratch;
};

template <class D, class T = hn::TFromD<D>>
void run_level(const SimdFftPlan<T>& plan, std::size_t level, const LevelData<T>& on, std::int64_t blocks,
               std::int64_t width, std::int64_t count) {
  const auto& l = plan.levels[level];
  const Blocks b{l.length / l.radix, blocks, width, count};
  T* const data = on.data;
  const T* w = plan.twiddles.data() + l.twiddles;
  switch (l.radix) {
    case 2:
      return pass<2, D>(data, b, w);
    case 3:
      return pass<3, D>(data, b, w);
    case 4:
      return pass<4, D>(data, b, w);
    case 5:
      return pass<5, D>(data, b, w);
    case 6:
      return pass<6, D>(data, b, w);
    case 7:
      return pass<7, D>(data, b, w);
    case 8:
      return pass<8, D>(data, b, w);
    case 9:
      return pass<9, D>(data, b, w);
    case 10:
      return pass<10, D>(data, b, w);
    case 11:
      return pass<11, D>(data, b, w);
    case 12:
      return pass<12, D>(data, b, w);
    case 13:
      return pass<13, D>(data, b, w);
    case 16:
      return pass<16, D>(data, b, w);
    default:
      if (l.convolution) return convolved_pass<D>(data, l.radix, b, *l.convolution, w, on.scratch);
      return prime_pass<D>(data, l.radix, b, plan.twiddles.data() + l.roots, w);
  }
}

// The first-level cache holds this much of what levels run over together.
constexpr std::int64_t kNearBytes = 32 * 1024;

// Runs levels from `level` to `last` - 1: level by level once a block fits in the first-level cache, and block by block
// before that.
template <class D, class T = hn::TFromD<D>>
void transform_from(const SimdFftPlan<T>& plan, std::size_t level, std::size_t last, const LevelData<T>& on) {
  constexpr std::int64_t kElement = 2 * kLanes<D>;
  if (level >= last) return;
  const std::int64_t length = plan.levels[level].length;
  if (length * kElement * static_cast<std::int64_t>(sizeof(T)) <= kNearBytes || level + 1 == last) {
    for (std::size_t next = level; next < last; ++next)
      run_level<D>(plan, next, on, length / plan.levels[next].length, 1, 1);
    return;
  }
  run_level<D>(plan, level, on, 1, 1, 1);
  const std::int64_t radix = plan.levels[level].radix;
  for (std::int64_t q = 0; q < radix; ++q)
    transform_from<D>(plan, level + 1, last, LevelData<T>{on.data + q * (length / radix) * kElement, on.scratch});
}
template <class D, class T>
void transform(const SimdFftPlan<T>& plan, T* work, T* scratch) {
  transform_from<D>(plan, 0, plan.levels.size(), LevelData<T>{work, scratch});
}

template <class D, class T = hn::TFromD<D>>
void transform_axis(const SimdFftPlan<T>& plan, T* work, const SimdAxis& axis, T* scratch) {
  constexpr std::int64_t kElement = 2 * kLanes<D>;
  const std::size_t first_level = axis.loaded ? 1 : 0, last_level = plan.levels.size() - (axis.stored ? 1 : 0);
  if (first_level >= last_level) return;
  const std::int64_t rows = axis.rows, width = axis.width;
  const std::int64_t fit = kNearBytes / (plan.n * kElement * static_cast<std::int64_t>(sizeof(T)));
  const auto levels = [&](T* data, std::int64_t lines, std::int64_t count) {
    for (std::size_t level = first_level; level < last_level; ++level)
      run_level<D>(plan, level, LevelData<T>{data, scratch}, lines * (plan.n / plan.levels[level].length), width,
                   count);
  };
  if (width == 1) {
    const std::int64_t together = std::max<std::int64_t>(1, fit), length = plan.levels[first_level].length;
    for (std::int64_t row = 0; row < rows; row += together) {
      T* const data = work + row * plan.n * kElement;
      if (fit > 0) {
        levels(data, std::min(together, rows - row), 1);
        continue;
      }
      for (std::int64_t at = 0; at < plan.n; at += length)
        transform_from<D>(plan, first_level, last_level, LevelData<T>{data + at * kElement, scratch});
    }
    return;
  }
  const std::int64_t together = std::min(width, std::max<std::int64_t>(4, fit));
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t first = 0; first < width; first += together)
      levels(work + (row * plan.n * width + first) * kElement, 1, std::min(together, width - first));
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

template <class D, class T>
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
void split(const T* work, const std::int32_t* output, std::int64_t m, const T* w, const HalfForm<T>& form, T* half) {
  const D d;
  constexpr int L = kLanes<D>;
  const int re = form.exchange ? L : 0, im = L - re;
  const auto re0 = hn::Load(d, work), im0 = hn::Load(d, work + L);  // output[0] is 0
  hn::Store(hn::Add(re0, im0), d, half + re);
  hn::Store(hn::Zero(d), d, half + im);
  hn::Store(hn::Sub(re0, im0), d, half + m * 2 * L + re);
  hn::Store(hn::Zero(d), d, half + m * 2 * L + im);
  const auto scale = hn::Set(d, form.interior / 2),
             scale_im = hn::Set(d, form.conjugate ? -form.interior / 2 : form.interior / 2);
  for (std::int64_t k = 1; 2 * k <= m; ++k) {
    const T *a = work + std::int64_t{output[k]} * 2 * L, *b = work + std::int64_t{output[m - k]} * 2 * L;
    const auto ar = hn::Load(d, a), ai = hn::Load(d, a + L), br = hn::Load(d, b), bi = hn::Load(d, b + L);
    const auto er = hn::Add(ar, br), ei = hn::Sub(ai, bi);  // of the even-indexed numbers
    const Complex<hn::Vec<D>> odd{hn::Add(ai, bi), hn::Sub(br, ar)};
    const auto o = times(odd, hn::Set(d, w[2 * k]), hn::Set(d, w[2 * k + 1]));
    T *low = half + k * 2 * L, *high = half + (m - k) * 2 * L;
    hn::Store(hn::Mul(scale, hn::Sub(er, o.re)), d, high + re);
    hn::Store(hn::Mul(scale_im, hn::Sub(o.im, ei)), d, high + im);
    hn::Store(hn::Mul(scale, hn::Add(er, o.re)), d, low + re);
    hn::Store(hn::Mul(scale_im, hn::Add(ei, o.im)), d, low + im);
  }
}

template <class D, class T = hn::TFromD<D>>
void merge(const T* half, std::int64_t m, const T* w, const HalfForm<T>& form, T* work) {
  const D d;
  constexpr int L = kLanes<D>;
  const int re = form.exchange ? L : 0, im = L - re;
  // Real and imaginary parts exchange places, because the transform that follows has sign -1 and this one needs +1.
  const auto first = hn::Load(d, half + re), last = hn::Load(d, half + m * 2 * L + re);
  hn::Store(hn::Sub(first, last), d, work);
  hn::Store(hn::Add(first, last), d, work + L);
  const auto scale = hn::Set(d, form.interior), scale_im = hn::Set(d, form.conjugate ? -form.interior : form.interior);
  for (std::int64_t k = 1; 2 * k <= m; ++k) {
    const T *a = half + k * 2 * L, *b = half + (m - k) * 2 * L;
    const auto ar = hn::Mul(scale, hn::Load(d, a + re)), ai = hn::Mul(scale_im, hn::Load(d, a + im));
    const auto br = hn::Mul(scale, hn::Load(d, b + re)), bi = hn::Mul(scale_im, hn::Load(d, b + im));
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

// ---- real lines of odd length
template <class D, class T = hn::TFromD<D>>
void spread_pairs(const T* pairs, std::int64_t n, T* work) {
  const D d;
  constexpr int L = kLanes<D>;
  for (std::int64_t k = 0; k < n; ++k) {
    hn::Store(hn::Load(d, pairs + k * L), d, work + k * 2 * L);
    hn::Store(hn::Zero(d), d, work + k * 2 * L + L);
  }
}

template <class D, class T = hn::TFromD<D>>
void join_pairs(const T* work, const std::int32_t* output, std::int64_t n, T* pairs) {
  const D d;
  constexpr int L = kLanes<D>;
  for (std::int64_t k = 0; k < n; ++k) hn::Store(hn::Load(d, work + std::int64_t{output[k]} * 2 * L), d, pairs + k * L);
}

template <class D, class T = hn::TFromD<D>>
void halve(const T* work, const std::int32_t* output, std::int64_t n, const HalfForm<T>& form, T* half) {
  const D d;
  constexpr int L = kLanes<D>;
  const int re = form.exchange ? L : 0, im = L - re;
  hn::Store(hn::Load(d, work), d, half + re);  // output[0] is 0
  hn::Store(hn::Zero(d), d, half + im);
  const auto scale = hn::Set(d, form.interior), scale_im = hn::Set(d, form.conjugate ? -form.interior : form.interior);
  for (std::int64_t k = 1; 2 * k < n; ++k) {
    const T* from = work + std::int64_t{output[k]} * 2 * L;
    hn::Store(hn::Mul(scale, hn::Load(d, from)), d, half + k * 2 * L + re);
    hn::Store(hn::Mul(scale_im, hn::Load(d, from + L)), d, half + k * 2 * L + im);
  }
}

template <class D, class T = hn::TFromD<D>>
void extend(const T* half, std::int64_t n, const HalfForm<T>& form, T* work) {
  const D d;
  constexpr int L = kLanes<D>;
  const int re_at = form.exchange ? L : 0, im_at = L - re_at;
  hn::Store(hn::Load(d, half + re_at), d, work);
  hn::Store(hn::Zero(d), d, work + L);
  const auto scale = hn::Set(d, form.interior), flip = hn::Set(d, form.conjugate ? form.interior : -form.interior);
  for (std::int64_t k = 1; 2 * k < n; ++k) {
    const auto re = hn::Mul(scale, hn::Load(d, half + k * 2 * L + re_at));
    const auto im = hn::Mul(flip, hn::Load(d, half + k * 2 * L + im_at));
    T *low = work + k * 2 * L, *high = work + (n - k) * 2 * L;
    hn::Store(re, d, low), hn::Store(im, d, low + L);
    hn::Store(re, d, high), hn::Store(hn::Neg(im), d, high + L);
  }
}

}  // namespace fourtune::runtime::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
