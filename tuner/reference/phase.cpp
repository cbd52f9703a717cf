// Error-free transformations require that every operation is rounded separately. This file is therefore compiled with
// -ffp-contract=off (CMakeLists.txt); otherwise GCC may fuse a product and a sum.
#include "tuner/reference/phase.h"

#include <array>
#include <cmath>

#include "base/inverse_two_pi.h"

namespace fourtune::tuner {
namespace {

__extension__ typedef unsigned __int128 Wide;

constexpr double kInverseHigh = 0x1.45f306dc9c883p-3, kInverseLow = -0x1.6b01ec5417056p-57;

Turns normalised(double big, double small) {
  const double hi = big + small;
  return {hi, small - (hi - big)};
}

// ---- kernels: bodies that are inlined into one copy per instruction set --------------------------------------------
#define FOURTUNE_BODY [[gnu::always_inline]] inline

// The nearest integer for |x| < 2^51, by the rounding of an addition (this vectorises everywhere).
FOURTUNE_BODY double nearest(double x) { return (x + 0x1.8p52) - 0x1.8p52; }

FOURTUNE_BODY void accumulate(double a, double bhi, double blo, double& thi, double& tlo) {
  const double product = a * bhi, low = __builtin_fma(a, bhi, -product) + a * blo;
  const double reduced = product - nearest(product);
  const double sum = thi + reduced, part = sum - thi;
  tlo += low + ((thi - (sum - part)) + (reduced - part));
  thi = sum;
}

FOURTUNE_BODY void add_turns_array_body(int count, const double* a, Turns b, double* thi, double* tlo) {
#pragma omp simd
  for (int j = 0; j < count; ++j) accumulate(a[j], b.hi, b.lo, thi[j], tlo[j]);
}

FOURTUNE_BODY void add_turns_scalar_body(int count, double a, const double* bhi, const double* blo, double* thi,
                                         double* tlo) {
#pragma omp simd
  for (int j = 0; j < count; ++j) accumulate(a, bhi[j], blo[j], thi[j], tlo[j]);
}

// Reduces to a quarter turn, then sums the Taylor series on [-pi/4, pi/4]: the first omitted term is below 1e-19.
FOURTUNE_BODY void unit_phases_body(int count, const double* thi, const double* tlo, double* re, double* im) {
#pragma omp simd
  for (int j = 0; j < count; ++j) {
    const double whole = thi[j] - nearest(thi[j]), quarter = nearest(4 * whole);
    const double t = ((whole - 0.25 * quarter) + tlo[j]) * 0x1.921fb54442d18p+2;
    const double u = t * t;
    const double s =
        t + t * u *
                (-1.0 / 6 +
                 u * (1.0 / 120 + u * (-1.0 / 5040 + u * (1.0 / 362880 +
                                                          u * (-1.0 / 39916800 + u * (1.0 / 6227020800.0 +
                                                                                      u * (-1.0 / 1307674368000.0 +
                                                                                           u / 355687428096000.0)))))));
    const double c =
        1 + u * (-1.0 / 2 +
                 u * (1.0 / 24 +
                      u * (-1.0 / 720 + u * (1.0 / 40320 + u * (-1.0 / 3628800 + u * (1.0 / 479001600.0 +
                                                                                      u * (-1.0 / 87178291200.0 +
                                                                                           u / 20922789888000.0)))))));
    // quarter is in -2 .. 2: the result is exp(i(t + quarter pi/2)).
    const bool swap = quarter * quarter == 1, flip_re = quarter == 1 || quarter * quarter == 4;
    const bool flip_im = quarter == -1 || quarter * quarter == 4;
    const double x = swap ? s : c, y = swap ? c : s;
    re[j] = flip_re ? -x : x;
    im[j] = flip_im ? -y : y;
  }
}

FOURTUNE_BODY void multiply_body(int count, const double* are, const double* aim, const double* bre, const double* bim,
                                 double* ore, double* oim) {
#pragma omp simd
  for (int j = 0; j < count; ++j) {
    const double re = are[j] * bre[j] - aim[j] * bim[j], im = are[j] * bim[j] + aim[j] * bre[j];
    ore[j] = re;
    oim[j] = im;
  }
}

FOURTUNE_BODY std::complex<double> dot_body(int count, const double* are, const double* aim, const double* bre,
                                            const double* bim) {
  double re = 0, im = 0;
#pragma omp simd reduction(+ : re, im)
  for (int j = 0; j < count; ++j) {
    re += are[j] * bre[j] - aim[j] * bim[j];
    im += are[j] * bim[j] + aim[j] * bre[j];
  }
  return {re, im};
}

struct PhaseKernels {
  void (*add_array)(int, const double*, Turns, double*, double*);
  void (*add_scalar)(int, double, const double*, const double*, double*, double*);
  void (*phases)(int, const double*, const double*, double*, double*);
  void (*product)(int, const double*, const double*, const double*, const double*, double*, double*);
  std::complex<double> (*dot)(int, const double*, const double*, const double*, const double*);
};

// NOLINTBEGIN(bugprone-macro-parentheses): attribute begins a declaration.
#define FOURTUNE_KERNELS(name, attribute)                                                                         \
  namespace name {                                                                                                \
  attribute void add_array(int n, const double* a, Turns b, double* h, double* l) {                               \
    add_turns_array_body(n, a, b, h, l);                                                                          \
  }                                                                                                               \
  attribute void add_scalar(int n, double a, const double* bh, const double* bl, double* h, double* l) {          \
    add_turns_scalar_body(n, a, bh, bl, h, l);                                                                    \
  }                                                                                                               \
  attribute void phases(int n, const double* h, const double* l, double* re, double* im) {                        \
    unit_phases_body(n, h, l, re, im);                                                                            \
  }                                                                                                               \
  attribute void product(int n, const double* a, const double* b, const double* c, const double* d, double* re,   \
                         double* im) {                                                                            \
    multiply_body(n, a, b, c, d, re, im);                                                                         \
  }                                                                                                               \
  attribute std::complex<double> dot(int n, const double* a, const double* b, const double* c, const double* d) { \
    return dot_body(n, a, b, c, d);                                                                               \
  }                                                                                                               \
  constexpr PhaseKernels kernels{add_array, add_scalar, phases, product, dot};                                    \
  }

// NOLINTEND(bugprone-macro-parentheses)
FOURTUNE_KERNELS(portable, )
#if defined(__x86_64__)
FOURTUNE_KERNELS(avx2, __attribute__((target("avx2,fma"))))
FOURTUNE_KERNELS(avx512, __attribute__((target("avx512f,avx512dq,avx512vl,fma,prefer-vector-width=512"))))
#endif

const PhaseKernels& kernels() {
#if defined(__x86_64__)
  static const PhaseKernels& chosen =
      __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")
          ? avx512::kernels
      : __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? avx2::kernels
                                                                        : portable::kernels;
  return chosen;
#else
  return portable::kernels;
#endif
}

}  // namespace

Turns to_turns(double x) {
  const double product = x * kInverseHigh;
  return normalised(product, std::fma(x, kInverseHigh, -product) + x * kInverseLow);
}

Turns ratio_turns(std::int64_t k, std::int64_t n) {
  const auto a = static_cast<double>(k), b = static_cast<double>(n);
  const double quotient = a / b;
  return normalised(quotient, std::fma(-quotient, b, a) / b);
}

// |x| = M 2^e with a 53-bit integer M. Digits of 1/(2 pi) whose products with M 2^e are whole turns are skipped, the
// next 256 bits are multiplied by M, and the top 128 bits of the fraction are kept.
Turns fold_turns(double x) {
  if (std::fabs(x) < 3) return to_turns(x);
  int exponent = 0;
  const auto mantissa = static_cast<std::uint64_t>(std::ldexp(std::frexp(std::fabs(x), &exponent), 53));
  exponent -= 53;
  const int offset = exponent > 0 ? exponent : 0, shift = exponent < 0 ? -exponent : 0;  // shift <= 51
  std::array<std::uint64_t, 5> product{};  // [0]: whole turns, then 256 fraction bits, before the shift
  Wide carry = 0;
  for (int i = 3; i >= 0; --i) {
    carry += static_cast<Wide>(mantissa) * inverse_two_pi_digits(offset + 64 * i);
    product[static_cast<std::size_t>(i) + 1] = static_cast<std::uint64_t>(carry);
    carry >>= 64;
  }
  product[0] = static_cast<std::uint64_t>(carry);
  const auto word = [&](std::size_t i) {
    return shift == 0 ? product[i] : (product[i] >> shift) | (product[i - 1] << (64 - shift));
  };
  Wide fraction = (static_cast<Wide>(word(1)) << 64) | word(2);
  bool negative = x < 0;
  if (fraction >> 127) {  // more than half a turn: take the complement with the other sign
    fraction = -fraction;
    negative = !negative;
  }
  const double hi = std::ldexp(static_cast<double>(fraction), -128);
  const Wide whole = static_cast<Wide>(std::ldexp(hi, 128));
  const double rest = whole > fraction ? -static_cast<double>(whole - fraction) : static_cast<double>(fraction - whole);
  const double lo = std::ldexp(rest, -128);
  return negative ? Turns{-hi, -lo} : Turns{hi, lo};
}

void add_turns(int count, const double* a, Turns b, double* thi, double* tlo) {
  kernels().add_array(count, a, b, thi, tlo);
}
void add_turns(int count, double a, const double* bhi, const double* blo, double* thi, double* tlo) {
  kernels().add_scalar(count, a, bhi, blo, thi, tlo);
}
void unit_phases(int count, const double* thi, const double* tlo, double* re, double* im) {
  kernels().phases(count, thi, tlo, re, im);
}
void multiply(int count, const double* are, const double* aim, const double* bre, const double* bim, double* ore,
              double* oim) {
  kernels().product(count, are, aim, bre, bim, ore, oim);
}
std::complex<double> dot(int count, const double* are, const double* aim, const double* bre, const double* bim) {
  return kernels().dot(count, are, aim, bre, bim);
}

}  // namespace fourtune::tuner
