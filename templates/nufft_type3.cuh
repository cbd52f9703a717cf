// What a transform of type 3 does around its two grids, chosen by TYPE3_PASS; 256 threads. Defined above by the
// generator: real, real2, TYPE3_DIM, TYPE3_ENTRY.
//   0  least and greatest coordinate and first one that is not finite, of six arrays
//   1  phases of the sources: exp(i D.(x - C))
//   2  factors of the targets: exp(i s.C) / product of the window's transform at h (s - D)
//   3  values times factors, or times their conjugates
//   4  fill with one word

// Parameters of kernels: the coordinates of n points, and a number for each dimension.
struct Coordinates {
  const real* of[3];
  long long n;
};
struct Vector {
  double of[3];
};

__device__ inline unsigned long long type3_key(double x) {  // in the order of the numbers
  const unsigned long long bits = static_cast<unsigned long long>(__double_as_longlong(x));
  return bits >> 63 ? ~bits : bits | 1ull << 63;
}

// The angle of a phase, a sum of products; their rounding errors are carried along, as the products may be large.
struct Type3Angle {
  double sum, error;
};
__device__ inline void type3_turn(Type3Angle& angle, double a, double b, double b_low) {
  const double product = a * b, total = angle.sum + product, part = total - angle.sum;
  angle.error += __fma_rn(a, b, -product) + ((angle.sum - (total - part)) + (product - part)) + a * b_low;
  angle.sum = total;
}
__device__ inline void type3_phase(const Type3Angle& angle, double& re, double& im) {
  double s, c;
  sincos(angle.sum, &s, &c);
  re = c - angle.error * s;
  im = s + angle.error * c;
}

#if TYPE3_PASS == 0
// words: for each array the least key, the least complement of a key, and the first bad index; all ones before.
extern "C" __global__ void __launch_bounds__(256)
    TYPE3_ENTRY(const Coordinates sources, const Coordinates targets, unsigned long long* words) {
  dev_follow();
  const int which = static_cast<int>(blockIdx.y);
  const real* const from = which < 3 ? sources.of[which] : targets.of[which - 3];
  const long long n = which < 3 ? sources.n : targets.n;
  unsigned long long low = ~0ull, high = ~0ull, bad = ~0ull;
  for (long long i = static_cast<long long>(blockIdx.x) * 256 + threadIdx.x; i < n;
       i += static_cast<long long>(gridDim.x) * 256) {
    const double value = static_cast<double>(__ldg(from + i));
    const bool finite = value * 0 == 0;
    const unsigned long long key = type3_key(value), at = static_cast<unsigned long long>(i);
    if (!finite && at < bad) bad = at;
    if (finite && key < low) low = key;
    if (finite && ~key < high) high = ~key;
  }
#pragma unroll
  for (int step = 16; step > 0; step /= 2) {
    const unsigned long long a = __shfl_xor_sync(0xffffffffu, low, step), b = __shfl_xor_sync(0xffffffffu, high, step);
    const unsigned long long c = __shfl_xor_sync(0xffffffffu, bad, step);
    low = a < low ? a : low;
    high = b < high ? b : high;
    bad = c < bad ? c : bad;
  }
  if ((threadIdx.x & 31) != 0) return;
  atomicMin(words + which * 3, low);
  atomicMin(words + which * 3 + 1, high);
  if (bad != ~0ull) atomicMin(words + which * 3 + 2, bad);
}
#elif TYPE3_PASS == 1
extern "C" __global__ void __launch_bounds__(256)
    TYPE3_ENTRY(const Coordinates sources, const Vector centre, const Vector turn, real2* __restrict__ out) {
  dev_follow();
  const long long i = static_cast<long long>(blockIdx.x) * 256 + threadIdx.x;
  if (i >= sources.n) return;
  Type3Angle angle = {0, 0};
#pragma unroll
  for (int d = 0; d < TYPE3_DIM; ++d) {
    const double at = static_cast<double>(__ldg(sources.of[d] + i)), moved = at - centre.of[d], seen = moved - at;
    type3_turn(angle, turn.of[d], moved, (at - (moved - seen)) - (centre.of[d] + seen));
  }
  double re, im;
  type3_phase(angle, re, im);
  real2 value;
  value.x = static_cast<real>(re);
  value.y = static_cast<real>(im);
  out[i] = value;
}
#elif TYPE3_PASS == 2
// The window's transform as polynomials of degree TYPE3_TERMS - 1 on equal intervals (generator/window/fourier.h).
struct Transform {
  const double* table;
  long long intervals;
  double per_interval;
};
__device__ inline double type3_transform(const Transform& transform, double xi) {
  const double position = (xi < 0 ? -xi : xi) * transform.per_interval;
  const long long last = transform.intervals - 1;
  const long long interval = position < static_cast<double>(last) ? static_cast<long long>(position) : last;
  const double at = 2 * (position - static_cast<double>(interval)) - 1;
  const double* const c = transform.table + interval * TYPE3_TERMS;
  double sum = __ldg(c + TYPE3_TERMS - 1);
  for (int term = TYPE3_TERMS - 2; term >= 0; --term) sum = __fma_rn(sum, at, __ldg(c + term));
  return sum;
}
extern "C" __global__ void __launch_bounds__(256)
    TYPE3_ENTRY(const Coordinates targets, const Transform transform, const Vector turn, const Vector centre,
                const Vector spacing, real2* __restrict__ out) {
  dev_follow();
  const long long i = static_cast<long long>(blockIdx.x) * 256 + threadIdx.x;
  if (i >= targets.n) return;
  Type3Angle angle = {0, 0};
  double deconvolve = 1;
#pragma unroll
  for (int d = 0; d < TYPE3_DIM; ++d) {
    const double at = static_cast<double>(__ldg(targets.of[d] + i));
    type3_turn(angle, turn.of[d], at, 0);
    deconvolve *= type3_transform(transform, spacing.of[d] * (at - centre.of[d]));
  }
  double re, im;
  type3_phase(angle, re, im);
  real2 value;
  value.x = static_cast<real>(re / deconvolve);
  value.y = static_cast<real>(im / deconvolve);
  out[i] = value;
}
#elif TYPE3_PASS == 3
// to may be from. turn: 1, or -1 for conjugates of the factors. blockIdx.y counts transforms.
extern "C" __global__ void __launch_bounds__(256)
    TYPE3_ENTRY(const real2* from, const real2* __restrict__ factors, real2* to, long long n, double turn) {
  dev_follow();
  const long long i = static_cast<long long>(blockIdx.x) * 256 + threadIdx.x;
  if (i >= n) return;
  const real2 f = factors[i], v = from[blockIdx.y * n + i];
  const real fy = static_cast<real>(turn) * f.y;
  real2 value;
  value.x = v.x * f.x - v.y * fy;
  value.y = v.x * fy + v.y * f.x;
  to[blockIdx.y * n + i] = value;
}
#else
extern "C" __global__ void __launch_bounds__(256)
    TYPE3_ENTRY(unsigned long long* at, long long words, long long value) {
  dev_follow();
  for (long long i = static_cast<long long>(blockIdx.x) * 256 + threadIdx.x; i < words;
       i += static_cast<long long>(gridDim.x) * 256)
    at[i] = static_cast<unsigned long long>(value);
}
#endif
