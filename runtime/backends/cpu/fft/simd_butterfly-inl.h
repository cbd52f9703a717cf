// Small DFTs (sign -1) of vectors of complex numbers, in registers. Included once per instruction set by fft/simd.cpp.
#if defined(FOURTUNE_FFT_BUTTERFLY_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef FOURTUNE_FFT_BUTTERFLY_INL
#undef FOURTUNE_FFT_BUTTERFLY_INL
#else
#define FOURTUNE_FFT_BUTTERFLY_INL
#endif

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace fourtune::runtime::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class D>
constexpr int kLanes = static_cast<int>(hn::MaxLanes(D()));

template <class V>
struct Complex {
  V re, im;
};
template <class V>
HWY_INLINE Complex<V> operator+(Complex<V> a, Complex<V> b) {
  return {hn::Add(a.re, b.re), hn::Add(a.im, b.im)};
}
template <class V>
HWY_INLINE Complex<V> operator-(Complex<V> a, Complex<V> b) {
  return {hn::Sub(a.re, b.re), hn::Sub(a.im, b.im)};
}
template <class V>
HWY_INLINE Complex<V> times(Complex<V> a, V re, V im) {
  return {hn::NegMulAdd(a.im, im, hn::Mul(a.re, re)), hn::MulAdd(a.re, im, hn::Mul(a.im, re))};
}
// Computes a - i b, and below a + i b.
template <class V>
HWY_INLINE Complex<V> minus_i(Complex<V> a, Complex<V> b) {
  return {hn::Add(a.re, b.im), hn::Sub(a.im, b.re)};
}
template <class V>
HWY_INLINE Complex<V> plus_i(Complex<V> a, Complex<V> b) {
  return {hn::Sub(a.re, b.im), hn::Add(a.im, b.re)};
}

template <int R, class D>
struct Butterfly;

template <class D>
struct Butterfly<1, D> {
  static HWY_INLINE void run(D, Complex<hn::Vec<D>>*) {}
};

template <class D>
struct Butterfly<2, D> {
  static HWY_INLINE void run(D, Complex<hn::Vec<D>>* x) {
    const auto a = x[0], b = x[1];
    x[0] = a + b;
    x[1] = a - b;
  }
};

template <class D>
struct Butterfly<4, D> {
  static HWY_INLINE void run(D, Complex<hn::Vec<D>>* x) {
    const auto a = x[0] + x[2], b = x[0] - x[2], c = x[1] + x[3], d = x[1] - x[3];
    x[0] = a + c;
    x[1] = minus_i(b, d);
    x[2] = a - c;
    x[3] = plus_i(b, d);
  }
};

template <class D>
struct Butterfly<8, D> {
  static HWY_INLINE void run(D d, Complex<hn::Vec<D>>* x) {
    using V = hn::Vec<D>;
    Complex<V> even[4], odd[4];
    for (int j = 0; j < 4; ++j) {
      even[j] = x[j] + x[j + 4];
      odd[j] = x[j] - x[j + 4];
    }
    // odd[j] *= exp(-i pi j / 4)
    const V h = hn::Set(d, static_cast<hn::TFromD<D>>(0.70710678118654752440));
    odd[1] = {hn::Mul(h, hn::Add(odd[1].re, odd[1].im)), hn::Mul(h, hn::Sub(odd[1].im, odd[1].re))};
    odd[2] = {odd[2].im, hn::Neg(odd[2].re)};
    odd[3] = {hn::Mul(h, hn::Sub(odd[3].im, odd[3].re)), hn::Neg(hn::Mul(h, hn::Add(odd[3].re, odd[3].im)))};
    Butterfly<4, D>::run(d, even);
    Butterfly<4, D>::run(d, odd);
    for (int j = 0; j < 4; ++j) {
      x[2 * j] = even[j];
      x[2 * j + 1] = odd[j];
    }
  }
};

// cos and sin of 2 pi j / R for 0 < j <= R/2 and odd R.
template <int R>
struct Roots;
#define FOURTUNE_ROOTS(R, ...)                               \
  template <>                                                \
  struct Roots<R> {                                          \
    static constexpr double value[(R) / 2][2] = __VA_ARGS__; \
  };
FOURTUNE_ROOTS(3, {{-0.5, 0.86602540378443864676}})
FOURTUNE_ROOTS(5, {{0.30901699437494742410, 0.95105651629515357212}, {-0.80901699437494742410, 0.58778525229247312917}})
FOURTUNE_ROOTS(7, {{0.62348980185873353053, 0.78183148246802980871},
                   {-0.22252093395631440429, 0.97492791218182360702},
                   {-0.90096886790241912624, 0.43388373911755812048}})
FOURTUNE_ROOTS(11, {{0.84125353283118116886, 0.54064081745559758211},
                    {0.41541501300188642553, 0.90963199535451837141},
                    {-0.14231483827328514044, 0.98982144188093273238},
                    {-0.65486073394528506406, 0.75574957435425828377},
                    {-0.95949297361449738989, 0.28173255684142969771}})
FOURTUNE_ROOTS(13, {{0.88545602565320989590, 0.46472317204376854566},
                    {0.56806474673115580251, 0.82298386589365639458},
                    {0.12053668025532305335, 0.99270887409805399280},
                    {-0.35460488704253562597, 0.93501624268541482344},
                    {-0.74851074817110109863, 0.66312265824079520238},
                    {-0.97094181742605202716, 0.23931566428755776715}})
#undef FOURTUNE_ROOTS

// Odd R: symmetric and antisymmetric sums take (R-1)^2 / 2 multiply-adds for each of the real and imaginary parts.
template <int R, class D>
struct Butterfly {
  static_assert(R % 2 == 1);
  using V = hn::Vec<D>;
  static HWY_INLINE void run(D d, Complex<V>* x) {
    constexpr int kHalf = R / 2;
    Complex<V> sum[kHalf], difference[kHalf];
    const Complex<V> x0 = x[0];
    for (int j = 0; j < kHalf; ++j) {
      sum[j] = x[j + 1] + x[R - 1 - j];
      difference[j] = x[j + 1] - x[R - 1 - j];
    }
    for (int j = 0; j < kHalf; ++j) x[0] = x[0] + sum[j];
#pragma GCC unroll 8
    for (int q = 1; q <= kHalf; ++q) {
      Complex<V> c = x0, s{hn::Zero(d), hn::Zero(d)};
#pragma GCC unroll 8
      for (int j = 0; j < kHalf; ++j) {
        const int turn = q * (j + 1) % R;
        const int at = (turn <= kHalf ? turn : R - turn) - 1;
        const V re = hn::Set(d, static_cast<hn::TFromD<D>>(Roots<R>::value[at][0]));
        const V im =
            hn::Set(d, static_cast<hn::TFromD<D>>(turn <= kHalf ? Roots<R>::value[at][1] : -Roots<R>::value[at][1]));
        c = {hn::MulAdd(sum[j].re, re, c.re), hn::MulAdd(sum[j].im, re, c.im)};
        if (j == 0) {
          s = {hn::Mul(difference[j].re, im), hn::Mul(difference[j].im, im)};
        } else {
          s = {hn::MulAdd(difference[j].re, im, s.re), hn::MulAdd(difference[j].im, im, s.im)};
        }
      }
      x[q] = minus_i(c, s);
      x[R - q] = plus_i(c, s);
    }
  }
};

// R = A B with coprime factors needs no twiddle factors (Good-Thomas): inputs j = B j1 + A j2, outputs by remainders.
template <int A, int B, class D>
struct CoprimeButterfly {
  using V = hn::Vec<D>;
  static constexpr int inverse(int a, int modulus) {
    for (int i = 1; i < modulus; ++i) {
      if (a * i % modulus == 1) return i;
    }
    return 0;
  }
  static HWY_INLINE void run(D d, Complex<V>* x) {
    constexpr int R = A * B, kA = B * inverse(B % A, A), kB = A * inverse(A % B, B);
    Complex<V> rows[A][B];
#pragma GCC unroll 16
    for (int j2 = 0; j2 < B; ++j2) {
      Complex<V> column[A];
#pragma GCC unroll 16
      for (int j1 = 0; j1 < A; ++j1) column[j1] = x[(B * j1 + A * j2) % R];
      Butterfly<A, D>::run(d, column);
#pragma GCC unroll 16
      for (int k1 = 0; k1 < A; ++k1) rows[k1][j2] = column[k1];
    }
#pragma GCC unroll 16
    for (int k1 = 0; k1 < A; ++k1) {
      Butterfly<B, D>::run(d, rows[k1]);
#pragma GCC unroll 16
      for (int k2 = 0; k2 < B; ++k2) x[(kA * k1 + kB * k2) % R] = rows[k1][k2];
    }
  }
};
template <class D>
struct Butterfly<6, D> : CoprimeButterfly<2, 3, D> {};
template <class D>
struct Butterfly<10, D> : CoprimeButterfly<2, 5, D> {};
template <class D>
struct Butterfly<12, D> : CoprimeButterfly<4, 3, D> {};
template <class D>
struct Butterfly<15, D> : CoprimeButterfly<3, 5, D> {};

// R = A A with twiddle factors exp(-2 pi i j k / R).
template <int A, class D>
struct SquareButterfly {
  using V = hn::Vec<D>;
  static HWY_INLINE void run(D d, Complex<V>* x, const double (&root)[(A - 1) * (A - 1) + 1][2]) {
    Complex<V> rows[A][A];
#pragma GCC unroll 16
    for (int j2 = 0; j2 < A; ++j2) {
      Complex<V> column[A];
#pragma GCC unroll 16
      for (int j1 = 0; j1 < A; ++j1) column[j1] = x[A * j1 + j2];
      Butterfly<A, D>::run(d, column);
#pragma GCC unroll 16
      for (int k1 = 0; k1 < A; ++k1) {
        const int turn = k1 * j2;
        rows[k1][j2] = turn == 0 ? column[k1]
                                 : times(column[k1], hn::Set(d, static_cast<hn::TFromD<D>>(root[turn][0])),
                                         hn::Set(d, static_cast<hn::TFromD<D>>(-root[turn][1])));
      }
    }
#pragma GCC unroll 16
    for (int k1 = 0; k1 < A; ++k1) {
      Butterfly<A, D>::run(d, rows[k1]);
#pragma GCC unroll 16
      for (int k2 = 0; k2 < A; ++k2) x[k1 + A * k2] = rows[k1][k2];
    }
  }
};
template <class D>
struct Butterfly<9, D> {
  static HWY_INLINE void run(D d, Complex<hn::Vec<D>>* x) {
    static constexpr double root[5][2] = {{1, 0},
                                          {0.76604444311897803520, 0.64278760968653932632},
                                          {0.17364817766693034885, 0.98480775301220805937},
                                          {-0.5, 0.86602540378443864676},
                                          {-0.93969262078590838405, 0.34202014332566873304}};
    SquareButterfly<3, D>::run(d, x, root);
  }
};
template <class D>
struct Butterfly<16, D> {
  static HWY_INLINE void run(D d, Complex<hn::Vec<D>>* x) {
    static constexpr double root[10][2] = {{1, 0},
                                           {0.92387953251128675613, 0.38268343236508977173},
                                           {0.70710678118654752440, 0.70710678118654752440},
                                           {0.38268343236508977173, 0.92387953251128675613},
                                           {0, 1},
                                           {-0.38268343236508977173, 0.92387953251128675613},
                                           {-0.70710678118654752440, 0.70710678118654752440},
                                           {-0.92387953251128675613, 0.38268343236508977173},
                                           {-1, 0},
                                           {-0.92387953251128675613, -0.38268343236508977173}};
    SquareButterfly<4, D>::run(d, x, root);
  }
};

}  // namespace fourtune::runtime::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
