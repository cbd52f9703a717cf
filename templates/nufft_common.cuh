// Device functions that every NUFFT kernel uses. Defined above by the generator: real, real2, count (of points), the
// constants NUFFT_*, and nufft_window; how functions are declared is in nufft_device.cuh. What a processor cannot run is in a dev_ function with a second, plain body.

// A parameter of kernels: from one transform's (or group's) numbers to the next one's, of the points and of the grid.
struct Distances {
  long long values, grid;
};

// First cells of the bins of a subproblem's group: 0 along the dimension whose bins lie together.
struct Corner {
  int x, y, z;
};
NUFFT_DEVICE Corner nufft_corner(const Task& task) {
  Corner at;
#if NUFFT_SLIDE == 1
  at.x = static_cast<int>(task.group) * NUFFT_B0, at.y = at.z = 0;
#else
  at.x = static_cast<int>(task.group % NUFFT_NB0) * NUFFT_B0;
  at.y = static_cast<int>(task.group / NUFFT_NB0 % NUFFT_NB1) * NUFFT_B1;
  at.z = NUFFT_SLIDE == 2 ? 0 : static_cast<int>(task.group / NUFFT_NB0 / NUFFT_NB1) * NUFFT_B2;
#endif
  return at;
}

NUFFT_DEVICE real2 nufft_make(real x, real y) {
  real2 value;
  value.x = x;
  value.y = y;
  return value;
}
NUFFT_DEVICE real2 nufft_zero() { return nufft_make(0, 0); }
NUFFT_DEVICE real2 nufft_scaled(real a, real2 v) { return nufft_make(a * v.x, a * v.y); }
NUFFT_DEVICE void nufft_add(real2& sum, real a, real2 v) {
  sum.x = nufft_fma(a, v.x, sum.x);
  sum.y = nufft_fma(a, v.y, sum.y);
}
// Position i0 + k in a periodic dimension of n cells; i0 < n, k < n.
NUFFT_DEVICE int nufft_wrap(int i, int n) { return i >= n ? i - n : i; }

// Adds to global memory without waiting for the old value.
NUFFT_DEVICE void dev_add(float2* at, float2 value) {
#if !defined(FOURTUNE_EMULATED) && __CUDA_ARCH__ >= 900
  asm volatile("red.global.add.v2.f32 [%0], {%1, %2};" ::"l"(at), "f"(value.x), "f"(value.y) : "memory");
#else
  atomicAdd(&at->x, value.x);
  atomicAdd(&at->y, value.y);
#endif
}
// The same for two cells side by side, the first at a multiple of 16 bytes: reductions are counted by lanes, not bytes.
NUFFT_DEVICE void dev_add_pair(float2* at, float2 first, float2 second) {
#if !defined(FOURTUNE_EMULATED) && __CUDA_ARCH__ >= 900
  asm volatile("red.global.add.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(at), "f"(first.x), "f"(first.y), "f"(second.x),
               "f"(second.y)
               : "memory");
#else
  dev_add(at, first);
  dev_add(at + 1, second);
#endif
}
NUFFT_DEVICE void dev_add(double2* at, double2 value) {
  atomicAdd(&at->x, value.x);
  atomicAdd(&at->y, value.y);
}

// What spreaders sum up in. NUFFT_FIXED: multiples of a unit in 64 bits, sums of which do not depend on their order.
// NUFFT_REST: what rounding to multiples of that unit leaves, in units that are smaller by NUFFT_REST_UNITS.
#ifndef NUFFT_FIXED
#define NUFFT_FIXED 0
#endif
#if NUFFT_FIXED
struct alignas(16) Cell {
  unsigned long long x, y;
};
// A power of two: one contribution stays below 2^51, so that adding 1.5 2^52 rounds it to an integer in the low bits,
// and all that can meet in a cell (NUFFT_REACH bins of full weight, at most m points) stay below 2^62. Weights are at
// most 1.05.
NUFFT_DEVICE double nufft_fixed_scale(const unsigned long long* bounds, long long m) {
  const double one = __longlong_as_double(static_cast<long long>(bounds[0])) * 1.2;
#if NUFFT_AGREED  // by ranks that have other numbers of points
  const double points = static_cast<double>(bounds[1]) * NUFFT_REACH;
  (void)m;
#else
  const double points = fmin(static_cast<double>(bounds[1]) * NUFFT_REACH, static_cast<double>(m));
#endif
  const auto exponent = [](double x) { return static_cast<int>(__double_as_longlong(x) >> 52 & 2047) - 1023; };
  const int e = min(max(min(49 - exponent(one), 60 - exponent(one * points)), -1000), 1000);
  return __longlong_as_double(static_cast<long long>(e + 1023) << 52);
}
#define NUFFT_REST_UNITS 0x1p31
NUFFT_DEVICE unsigned long long nufft_fixed(real value, double scale) {
  double shifted = nufft_fma(static_cast<double>(value), scale, 0x1.8p52);
#if NUFFT_REST
  const double rest = nufft_fma(static_cast<double>(value), scale, 0x1.8p52 - shifted);  // exact, at most a half
  shifted = nufft_fma(rest, NUFFT_REST_UNITS, 0x1.8p52);
#endif
  return static_cast<unsigned long long>(__double_as_longlong(shifted)) -
         static_cast<unsigned long long>(__double_as_longlong(0x1.8p52));
}
NUFFT_DEVICE Cell nufft_none() { return Cell{0, 0}; }
NUFFT_DEVICE void nufft_sum(Cell& sum, real a, real2 v, double scale) {
  sum.x += nufft_fixed(a * v.x, scale);
  sum.y += nufft_fixed(a * v.y, scale);
}
NUFFT_DEVICE void dev_add(Cell* at, Cell value) {
  atomicAdd(&at->x, value.x);
  atomicAdd(&at->y, value.y);
}
#define NUFFT_BOUNDS , const unsigned long long* __restrict__ bounds
#else
typedef real2 Cell;
NUFFT_DEVICE real2 nufft_none() { return nufft_zero(); }
NUFFT_DEVICE void nufft_sum(real2& sum, real a, real2 v, double) { nufft_add(sum, a, v); }
#define NUFFT_BOUNDS
#endif
