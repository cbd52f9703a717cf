#include "tuner/reference/device_sums_kernel.h"

#include <fmt/format.h>

#include <string>

namespace fourtune::tuner {
namespace {

// As the host's sums (phase.cpp, reference.h): turns from about 106 bits, terms in double precision, and sums that carry
// their rounding errors along. Products whose errors are taken must not be fused with what follows: __dmul_rn.
constexpr char kText[] = R"(
#if defined(FOURTUNE_EMULATED)
#define SUMS_SHARED(type, name) FOURTUNE_SHARED(type, name)
#else
#define SUMS_SHARED(type, name)                                 \
  extern __shared__ __align__(16) unsigned char sums_bytes[];  \
  type* name = reinterpret_cast<type*>(sums_bytes)
#endif
__device__ inline void sums_add(double& sum, double& low, double v) {
  const double next = sum + v, part = next - sum;
  low += (sum - (next - part)) + (v - part);
  sum = next;
}
// turns += a (high + low), modulo whole turns.
__device__ inline void sums_turn(double a, double high, double low, double& turns, double& rest) {
  const double product = __dmul_rn(a, high);
  rest += __fma_rn(a, high, -product) + a * low;
  sums_add(turns, rest, product - rint(product));
}
__device__ inline long long sums_quotient(long long a, long long b) {
  if (((a | b) >> 32) == 0) return static_cast<unsigned>(a) / static_cast<unsigned>(b);
  return a / b;
}
__device__ inline double sums_mode(long long i, long long n, long long order) {
  return static_cast<double>(order == 0 ? i - n / 2 : i < (n + 1) / 2 ? i : i - n);
}
extern "C" __global__ void __launch_bounds__(256)
    SUMS_ENTRY(const real* x, const real* y, const real* z, const real2* values, const double* outputs, double* sums,
               long long count, long long n0, long long n1, long long n2, long long order, double most) {
  SUMS_SHARED(double, shared);
  double high[SUMS_GROUP][SUMS_DIM], low[SUMS_GROUP][SUMS_DIM];
  double re[SUMS_GROUP], re_low[SUMS_GROUP], im[SUMS_GROUP], im_low[SUMS_GROUP];
  const long long output = static_cast<long long>(blockIdx.y) * SUMS_GROUP;
#pragma unroll
  for (int i = 0; i < SUMS_GROUP; ++i) {
    re[i] = re_low[i] = im[i] = im_low[i] = 0;
#pragma unroll
    for (int d = 0; d < SUMS_DIM; ++d) {
      high[i][d] = outputs[2 * ((output + i) * SUMS_DIM + d)];
      low[i][d] = outputs[2 * ((output + i) * SUMS_DIM + d) + 1];
    }
  }
  bool beyond = false;
  for (long long j = static_cast<long long>(blockIdx.x) * 256 + threadIdx.x; j < count;
       j += static_cast<long long>(gridDim.x) * 256) {
    double a[3];
#if SUMS_MODES
    const long long row = SUMS_DIM > 1 ? sums_quotient(j, n0) : 0, plane = SUMS_DIM > 2 ? sums_quotient(row, n1) : 0;
    a[0] = sums_mode(j - row * n0, n0, order);
    a[1] = SUMS_DIM > 1 ? sums_mode(row - plane * n1, n1, order) : 0;
    a[2] = SUMS_DIM > 2 ? sums_mode(plane, n2, order) : 0;
#else
    a[0] = static_cast<double>(x[j]);
    a[1] = SUMS_DIM > 1 ? static_cast<double>(y[j]) : 0;
    a[2] = SUMS_DIM > 2 ? static_cast<double>(z[j]) : 0;
#pragma unroll
    for (int d = 0; d < SUMS_DIM; ++d) beyond = beyond || a[d] > most || a[d] < -most;
#endif
    const double v = static_cast<double>(values[j].x), w = static_cast<double>(values[j].y);
#pragma unroll
    for (int i = 0; i < SUMS_GROUP; ++i) {
      double turns = 0, rest = 0, s, c;
#pragma unroll
      for (int d = 0; d < SUMS_DIM; ++d) sums_turn(a[d], high[i][d], low[i][d], turns, rest);
      sincospi(2 * ((turns - rint(turns)) + rest), &s, &c);
      sums_add(re[i], re_low[i], v * c - w * s);
      sums_add(im[i], im_low[i], v * s + w * c);
    }
  }
  // The block's sums, one output after the other.
  const double bad = beyond ? (most - most) / (most - most) : 0;
#pragma unroll
  for (int i = 0; i < SUMS_GROUP; ++i) {
    double* const mine = shared + 4 * threadIdx.x;
    mine[0] = re[i] + bad, mine[1] = re_low[i], mine[2] = im[i] + bad, mine[3] = im_low[i];
    __syncthreads();
    for (unsigned step = 128; step > 0; step /= 2) {
      if (threadIdx.x < step) {
        const double* const other = mine + 4 * step;
        sums_add(mine[0], mine[1], other[0]);
        sums_add(mine[2], mine[3], other[2]);
        mine[1] += other[1], mine[3] += other[3];
      }
      __syncthreads();
    }
    if (threadIdx.x < 2) {
      const long long at = (static_cast<long long>(blockIdx.x) * gridDim.y + blockIdx.y) * SUMS_GROUP + i;
      sums[2 * at + threadIdx.x] = shared[2 * threadIdx.x] + shared[2 * threadIdx.x + 1];
    }
    __syncthreads();
  }
}
)";

}  // namespace

generator::KernelSource sums_kernel(Precision precision, int dim, bool over_modes) {
  const char* const real = precision == Precision::f32 ? "float" : "double";
  generator::KernelSource out;
  out.entry = fmt::format("direct_sums_{}_{}d_{}", over_modes ? "modes" : "points", dim, to_string(precision));
  out.text = fmt::format(
      "typedef {0} real;\ntypedef {0}2 real2;\n#define SUMS_ENTRY {1}\n#define SUMS_DIM {2}\n#define SUMS_MODES {3}\n"
      "#define SUMS_GROUP {4}\n",
      real, out.entry, dim, over_modes ? 1 : 0, sums_group);
  out.text += kText;
  out.block = {sums_threads, 1, 1};
  out.shared_bytes = 4 * sums_threads * sizeof(double);
  return out;
}

}  // namespace fourtune::tuner
