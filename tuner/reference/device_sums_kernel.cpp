#include "tuner/reference/device_sums_kernel.h"

#include <fmt/format.h>

#include <string>

namespace fourtune::tuner {
namespace {

// As the host's sums (phase.cpp, reference.h): turns from about 106 bits, terms in double precision, and sums that
// carry their rounding errors along. Products whose errors are taken must not be fused with what follows: __dmul_rn.
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
__device__ inline double sums_real(const void* array, long long i, long long single) {
  return single ? static_cast<double>(static_cast<const float*>(array)[i]) : static_cast<const double*>(array)[i];
}
// The terms of all sums: values at points, which lie within [-most, most], or at the modes of n0 x n1 x n2. Members are
// in the order of DeviceSums::Impl::program.
struct Terms {
  const void *x, *y, *z, *values;
  long long count, dim, single, modes, n0, n1, n2, order;
  double most;
};
extern "C" __global__ void __launch_bounds__(256, 2)
    direct_sums(const Terms terms, const double* outputs, double* sums) {
  const double most = terms.most;
  SUMS_SHARED(double, shared);
  double high[SUMS_GROUP][3], low[SUMS_GROUP][3];
  double re[SUMS_GROUP], re_low[SUMS_GROUP], im[SUMS_GROUP], im_low[SUMS_GROUP];
  const long long output = static_cast<long long>(blockIdx.y) * SUMS_GROUP;
#pragma unroll
  for (int i = 0; i < SUMS_GROUP; ++i) {
    re[i] = re_low[i] = im[i] = im_low[i] = 0;
#pragma unroll
    for (int d = 0; d < 3; ++d) {
      high[i][d] = outputs[2 * (3 * (output + i) + d)];
      low[i][d] = outputs[2 * (3 * (output + i) + d) + 1];
    }
  }
  bool beyond = false;
  for (long long j = static_cast<long long>(blockIdx.x) * 256 + threadIdx.x; j < terms.count;
       j += static_cast<long long>(gridDim.x) * 256) {
    double a[3] = {0, 0, 0};
    if (terms.modes) {
      const long long row = terms.dim > 1 ? sums_quotient(j, terms.n0) : 0,
                      plane = terms.dim > 2 ? sums_quotient(row, terms.n1) : 0;
      a[0] = sums_mode(j - row * terms.n0, terms.n0, terms.order);
      if (terms.dim > 1) a[1] = sums_mode(row - plane * terms.n1, terms.n1, terms.order);
      if (terms.dim > 2) a[2] = sums_mode(plane, terms.n2, terms.order);
    } else {
      a[0] = sums_real(terms.x, j, terms.single);
      if (terms.dim > 1) a[1] = sums_real(terms.y, j, terms.single);
      if (terms.dim > 2) a[2] = sums_real(terms.z, j, terms.single);
#pragma unroll
      for (int d = 0; d < 3; ++d) beyond = beyond || a[d] > most || a[d] < -most;
    }
    const double v = sums_real(terms.values, 2 * j, terms.single), w = sums_real(terms.values, 2 * j + 1, terms.single);
#pragma unroll
    for (int i = 0; i < SUMS_GROUP; ++i) {
      double turns = 0, rest = 0, s, c;
#pragma unroll
      for (int d = 0; d < 3; ++d)
        if (d < terms.dim) sums_turn(a[d], high[i][d], low[i][d], turns, rest);
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

generator::KernelSource sums_kernel() {
  generator::KernelSource out;
  out.entry = "direct_sums";
  out.text = fmt::format("#define SUMS_GROUP {}\n", sums_group) + kText;
  out.block = {sums_threads, 1, 1};
  out.shared_bytes = 4 * sums_threads * sizeof(double);
  return out;
}

}  // namespace fourtune::tuner
