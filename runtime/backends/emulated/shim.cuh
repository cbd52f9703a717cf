// What a kernel text sees instead of the CUDA compiler's built-ins when it is compiled for the processor. Put in front
// of the text; includes nothing. The functions behind `fourtune_emulated_host` belong to the emulator (host_table.h).
#define FOURTUNE_EMULATED 1
typedef decltype(sizeof(0)) size_t;
typedef decltype((char*)0 - (char*)0) ptrdiff_t;
typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef short int16_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long int64_t;
typedef unsigned long uint64_t;
typedef unsigned long uintptr_t;

#define __host__
#define __device__
#define __constant__
#define __grid_constant__
#define __global__ __attribute__((visibility("default"), used))
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __align__(n) __attribute__((aligned(n)))
#define __launch_bounds__(...)
#define __cluster_dims__(...)

// ---- vector types -------------------------------------------------------------------------------------------------
#define FOURTUNE_VECTOR2(name, type, align) \
  struct alignas(align) name {              \
    type x, y;                              \
  };                                        \
  static inline name make_##name(type x, type y) { return name{x, y}; }
#define FOURTUNE_VECTOR3(name, type) \
  struct name {                      \
    type x, y, z;                    \
  };                                 \
  static inline name make_##name(type x, type y, type z) { return name{x, y, z}; }
#define FOURTUNE_VECTOR4(name, type, align) \
  struct alignas(align) name {              \
    type x, y, z, w;                        \
  };                                        \
  static inline name make_##name(type x, type y, type z, type w) { return name{x, y, z, w}; }
FOURTUNE_VECTOR2(short2, short, 4)
FOURTUNE_VECTOR2(int2, int, 8)
FOURTUNE_VECTOR2(uint2, unsigned, 8)
FOURTUNE_VECTOR2(longlong2, long long, 16)
FOURTUNE_VECTOR2(ulonglong2, unsigned long long, 16)
FOURTUNE_VECTOR2(float2, float, 8)
FOURTUNE_VECTOR2(double2, double, 16)
FOURTUNE_VECTOR3(int3, int)
FOURTUNE_VECTOR3(uint3, unsigned)
FOURTUNE_VECTOR3(float3, float)
FOURTUNE_VECTOR3(double3, double)
FOURTUNE_VECTOR4(int4, int, 16)
FOURTUNE_VECTOR4(uint4, unsigned, 16)
FOURTUNE_VECTOR4(float4, float, 16)
FOURTUNE_VECTOR4(double4, double, 16)
typedef uint3 dim3;

// ---- the emulator's functions ---------------------------------------------------------------------------------------
extern "C" {
__attribute__((visibility("default"))) FourtuneEmulatedHost fourtune_emulated_host;
// Set by the scheduler before it goes on with a thread.
__attribute__((visibility("default"))) uint3 threadIdx, blockIdx;
__attribute__((visibility("default"))) dim3 blockDim, gridDim;
}
static constexpr int warpSize = 32;

#define FOURTUNE_SHARED(type, name) type* name = (type*)fourtune_emulated_host.shared()

#define __syncthreads() (fourtune_emulated_host.barrier(__LINE__))
static inline void fourtune_emulated_syncwarp(int line, unsigned mask = 0xffffffffu) {
  fourtune_emulated_host.warp(mask, 0, line, 0, 0);
}
#define __syncwarp(...) fourtune_emulated_syncwarp(__LINE__ __VA_OPT__(, ) __VA_ARGS__)

// ---- warp
// ------------------------------------------------------------------------------------------------------------
static inline unsigned fourtune_emulated_lane() {
  return (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) & 31;
}
template <class T>
static inline T fourtune_emulated_shuffle(int line, unsigned mask, T value, int source) {
  static_assert(sizeof(T) <= 8, "a shuffle moves at most 8 bytes");
  unsigned long long bits = 0;
  __builtin_memcpy(&bits, &value, sizeof(T));
  bits = fourtune_emulated_host.warp(mask, 1, line, bits, source);
  __builtin_memcpy(&value, &bits, sizeof(T));
  return value;
}
template <class T>
static inline T fourtune_emulated_shfl(int line, unsigned mask, T value, int source, int width = 32) {
  const int lane = (int)fourtune_emulated_lane();
  return fourtune_emulated_shuffle(line, mask, value, (lane & ~(width - 1)) | (source & (width - 1)));
}
template <class T>
static inline T fourtune_emulated_shfl_up(int line, unsigned mask, T value, unsigned delta, int width = 32) {
  const int lane = (int)fourtune_emulated_lane(), first = lane & ~(width - 1), source = lane - (int)delta;
  return fourtune_emulated_shuffle(line, mask, value, source < first ? lane : source);
}
template <class T>
static inline T fourtune_emulated_shfl_down(int line, unsigned mask, T value, unsigned delta, int width = 32) {
  const int lane = (int)fourtune_emulated_lane(), last = lane | (width - 1), source = lane + (int)delta;
  return fourtune_emulated_shuffle(line, mask, value, source > last ? lane : source);
}
template <class T>
static inline T fourtune_emulated_shfl_xor(int line, unsigned mask, T value, int bits, int width = 32) {
  const int lane = (int)fourtune_emulated_lane(), last = lane | (width - 1), source = lane ^ bits;
  return fourtune_emulated_shuffle(line, mask, value, source > last ? lane : source);
}
#define __shfl_sync(...) fourtune_emulated_shfl(__LINE__, __VA_ARGS__)
#define __shfl_up_sync(...) fourtune_emulated_shfl_up(__LINE__, __VA_ARGS__)
#define __shfl_down_sync(...) fourtune_emulated_shfl_down(__LINE__, __VA_ARGS__)
#define __shfl_xor_sync(...) fourtune_emulated_shfl_xor(__LINE__, __VA_ARGS__)
#define __ballot_sync(mask, predicate) ((unsigned)fourtune_emulated_host.warp(mask, 2, __LINE__, (predicate) != 0, 0))
#define __any_sync(mask, predicate) (fourtune_emulated_host.warp(mask, 2, __LINE__, (predicate) != 0, 0) != 0)
#define __all_sync(mask, predicate) \
  (fourtune_emulated_host.warp(mask, 2, __LINE__, (predicate) != 0, 0) == (unsigned)(mask))
template <class T>
static inline unsigned fourtune_emulated_match(int line, unsigned mask, T value) {
  static_assert(sizeof(T) <= 8, "a match compares at most 8 bytes");
  unsigned long long bits = 0;
  __builtin_memcpy(&bits, &value, sizeof(T));
  return (unsigned)fourtune_emulated_host.warp(mask, 3, line, bits, 0);
}
#define __match_any_sync(mask, value) fourtune_emulated_match(__LINE__, mask, value)

// ---- atomics: threads of one block never run at once, blocks neither
// -------------------------------------------------
#define FOURTUNE_UNCHECKED static inline __attribute__((no_sanitize("thread")))
template <class T>
FOURTUNE_UNCHECKED T fourtune_emulated_atomic(T* at) {
  fourtune_emulated_host.atomic(at, sizeof(T), __builtin_return_address(0));
  return *at;
}
template <class T>
struct fourtune_same {
  typedef T type;
};
#define FOURTUNE_ATOMIC_OPERATION(name, expression)                         \
  template <class T>                                                        \
  FOURTUNE_UNCHECKED T name(T* at, typename fourtune_same<T>::type value) { \
    const T old = fourtune_emulated_atomic(at);                             \
    *at = expression;                                                       \
    return old;                                                             \
  }
FOURTUNE_ATOMIC_OPERATION(atomicAdd, old + value)
FOURTUNE_ATOMIC_OPERATION(atomicSub, old - value)
FOURTUNE_ATOMIC_OPERATION(atomicExch, value)
FOURTUNE_ATOMIC_OPERATION(atomicMin, old < value ? old : value)
FOURTUNE_ATOMIC_OPERATION(atomicMax, old > value ? old : value)
FOURTUNE_ATOMIC_OPERATION(atomicAnd, (old & value))
FOURTUNE_ATOMIC_OPERATION(atomicOr, old | value)
FOURTUNE_ATOMIC_OPERATION(atomicXor, old ^ value)
template <class T>
FOURTUNE_UNCHECKED T atomicCAS(T* at, typename fourtune_same<T>::type compare, typename fourtune_same<T>::type value) {
  const T old = fourtune_emulated_atomic(at);
  if (old == compare) *at = value;
  return old;
}
static inline void __threadfence_block() { __asm__ volatile("" ::: "memory"); }
static inline void __threadfence() { __asm__ volatile("" ::: "memory"); }
static inline void __threadfence_system() { __asm__ volatile("" ::: "memory"); }
#define __nanosleep(nanoseconds) (fourtune_emulated_host.pause(__LINE__))

// ---- loads and stores with a cache policy
// ----------------------------------------------------------------------------
#define FOURTUNE_LOAD(name)             \
  template <class T>                    \
  __forceinline__ T name(const T* at) { \
    return *at;                         \
  }
FOURTUNE_LOAD(__ldg);
FOURTUNE_LOAD(__ldcg);
FOURTUNE_LOAD(__ldca);
FOURTUNE_LOAD(__ldcs);
FOURTUNE_LOAD(__ldlu);
FOURTUNE_LOAD(__ldcv);
#define FOURTUNE_STORE(name)                                                \
  template <class T>                                                        \
  __forceinline__ void name(T* at, typename fourtune_same<T>::type value) { \
    *at = value;                                                            \
  }
FOURTUNE_STORE(__stwb);
FOURTUNE_STORE(__stcg);
FOURTUNE_STORE(__stcs);
FOURTUNE_STORE(__stwt);

// ---- asynchronous copies, for the plain bodies of dev_ functions
// ------------------------------------------------------- cp.async: `bytes` from global to shared memory, in groups per
// thread. The target is NaN until the copy lands, at some moment up to the wait for its group.
#define fourtune_async_copy(target, source, bytes) fourtune_emulated_host.async_copy(target, source, bytes, __LINE__)
#define fourtune_async_commit() fourtune_emulated_host.async_commit()
#define fourtune_async_wait(groups_left) fourtune_emulated_host.async_wait(groups_left)
// mbarrier: 8 bytes of shared memory. init once, arrive `count` times a phase (expect adds bytes to wait for), wait
// until the phase of this parity (0 first) is complete. bulk_copy completes `bytes` on its barrier.
#define fourtune_mbarrier_init(barrier, count) fourtune_emulated_host.mbarrier_init(barrier, count, __LINE__)
#define fourtune_mbarrier_arrive(barrier) fourtune_emulated_host.mbarrier_arrive(barrier, 0, __LINE__)
#define fourtune_mbarrier_arrive_expect(barrier, bytes) fourtune_emulated_host.mbarrier_arrive(barrier, bytes, __LINE__)
#define fourtune_mbarrier_wait(barrier, parity) fourtune_emulated_host.mbarrier_wait(barrier, parity, __LINE__)
#define fourtune_bulk_copy(target, source, bytes, barrier) \
  fourtune_emulated_host.bulk_copy(target, source, bytes, barrier, __LINE__)
// Bulk copies from shared to global memory, in groups per thread like cp.async; the source is read when they land.
#define fourtune_bulk_store(target, source, bytes) fourtune_emulated_host.async_copy(target, source, bytes, __LINE__)
#define fourtune_bulk_commit() fourtune_emulated_host.async_commit()
#define fourtune_bulk_wait(groups_left) fourtune_emulated_host.async_wait(groups_left)

// ---- clusters, for the plain bodies of dev_ functions --------------------------------------------------------------
// A thread arrives, may do anything but touch another block's memory, and waits until all threads of the cluster have
// arrived. Before its first wait another block may not even run: no address there can be had.
#define fourtune_cluster_arrive() fourtune_emulated_host.cluster_arrive(__LINE__)
#define fourtune_cluster_wait() fourtune_emulated_host.cluster_wait(__LINE__)
#define fourtune_cluster_sync() (fourtune_cluster_arrive(), fourtune_cluster_wait())
static inline unsigned fourtune_cluster_rank() { return fourtune_emulated_host.cluster_rank(); }
// The address in the shared memory of the block of that rank that corresponds to `local` in one's own.
template <class T>
static inline T* fourtune_emulated_map(int line, T* local, unsigned rank) {
  return (T*)fourtune_emulated_host.cluster_map((void*)local, rank, line);
}
#define fourtune_cluster_map(local, rank) fourtune_emulated_map(__LINE__, local, rank)

// ---- arithmetic
// --------------------------------------------------------------------------------------------------------
#define FOURTUNE_UNARY(name, type, builtin) \
  static inline type name(type x) { return builtin(x); }
#define FOURTUNE_REAL(name)                           \
  FOURTUNE_UNARY(name##f, float, __builtin_##name##f) \
  FOURTUNE_UNARY(name, double, __builtin_##name)      \
  FOURTUNE_UNARY(name, float, __builtin_##name##f)
// clang-format off
FOURTUNE_REAL(sqrt) FOURTUNE_REAL(sin) FOURTUNE_REAL(cos) FOURTUNE_REAL(tan) FOURTUNE_REAL(exp) FOURTUNE_REAL(exp2)
FOURTUNE_REAL(log) FOURTUNE_REAL(log2) FOURTUNE_REAL(floor) FOURTUNE_REAL(ceil) FOURTUNE_REAL(trunc) FOURTUNE_REAL(rint)
FOURTUNE_REAL(round) FOURTUNE_REAL(fabs) FOURTUNE_REAL(cosh) FOURTUNE_REAL(sinh)
static inline float fmaf(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
// clang-format on
static inline double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
static inline float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
#define __fmaf_rn fmaf
#define __fma_rn fma
static inline float __fmul_rn(float a, float b) { return a * b; }
static inline double __dmul_rn(double a, double b) { return a * b; }
static inline float __fadd_rn(float a, float b) { return a + b; }
static inline double __dadd_rn(double a, double b) { return a + b; }
static inline float __fsub_rn(float a, float b) { return a - b; }
static inline double __dsub_rn(double a, double b) { return a - b; }
static inline float __fdividef(float a, float b) { return a / b; }
static inline float rsqrtf(float x) { return 1.0f / __builtin_sqrtf(x); }
static inline double rsqrt(double x) { return 1.0 / __builtin_sqrt(x); }
static inline float fminf(float a, float b) { return __builtin_fminf(a, b); }
static inline float fmaxf(float a, float b) { return __builtin_fmaxf(a, b); }
static inline double fmin(double a, double b) { return __builtin_fmin(a, b); }
static inline double fmax(double a, double b) { return __builtin_fmax(a, b); }
#define FOURTUNE_MINMAX(type)                                      \
  static inline type min(type a, type b) { return a < b ? a : b; } \
  static inline type max(type a, type b) { return a > b ? a : b; }
// clang-format off
FOURTUNE_MINMAX(int) FOURTUNE_MINMAX(unsigned) FOURTUNE_MINMAX(long) FOURTUNE_MINMAX(unsigned long)
FOURTUNE_MINMAX(long long) FOURTUNE_MINMAX(unsigned long long) FOURTUNE_MINMAX(float) FOURTUNE_MINMAX(double)
static inline int abs(int x) { return x < 0 ? -x : x; }
// clang-format on
// sin and cos of pi x: exact reduction to [-1/4, 1/4] first.
#define FOURTUNE_SINCOSPI(name, type, rint, sin, cos)                                                       \
  static inline void name(type x, type* sine, type* cosine) {                                               \
    const type pi = (type)3.14159265358979323846264338327950288L, r = x - 2 * rint(x / 2), q = rint(2 * r); \
    const type s = sin(pi * (r - q / 2)), c = cos(pi * (r - q / 2));                                        \
    const int quarter = (int)q & 3;                                                                         \
    *sine = quarter == 0 ? s : quarter == 1 ? c : quarter == 2 ? -s : -c;                                   \
    *cosine = quarter == 0 ? c : quarter == 1 ? -s : quarter == 2 ? -c : s;                                 \
  }
FOURTUNE_SINCOSPI(sincospif, float, __builtin_rintf, __builtin_sinf, __builtin_cosf)
FOURTUNE_SINCOSPI(sincospi, double, __builtin_rint, __builtin_sin, __builtin_cos)
static inline float sinpif(float x) {
  float s, c;
  sincospif(x, &s, &c);
  return s;
}
static inline float cospif(float x) {
  float s, c;
  sincospif(x, &s, &c);
  return c;
}
static inline double sinpi(double x) {
  double s, c;
  sincospi(x, &s, &c);
  return s;
}
static inline double cospi(double x) {
  double s, c;
  sincospi(x, &s, &c);
  return c;
}
static inline void sincosf(float x, float* s, float* c) {
  *s = __builtin_sinf(x);
  *c = __builtin_cosf(x);
}
static inline void sincos(double x, double* s, double* c) {
  *s = __builtin_sin(x);
  *c = __builtin_cos(x);
}
#define __sincosf sincosf
#define __sinf sinf
#define __cosf cosf

// ---- bits and integers ---------------------------------------------------------------------------------------------
template <class To, class From>
static inline To fourtune_bits(From from) {
  static_assert(sizeof(To) == sizeof(From), "bits of one size");
  To to;
  __builtin_memcpy(&to, &from, sizeof(To));
  return to;
}
#define __float_as_int(x) fourtune_bits<int>((float)(x))
#define __float_as_uint(x) fourtune_bits<unsigned>((float)(x))
#define __int_as_float(x) fourtune_bits<float>((int)(x))
#define __uint_as_float(x) fourtune_bits<float>((unsigned)(x))
#define __double_as_longlong(x) fourtune_bits<long long>((double)(x))
#define __longlong_as_double(x) fourtune_bits<double>((long long)(x))
static inline int __float2int_rn(float x) { return (int)__builtin_rintf(x); }
static inline int __float2int_rd(float x) { return (int)__builtin_floorf(x); }
static inline int __double2int_rn(double x) { return (int)__builtin_rint(x); }
static inline int __double2int_rd(double x) { return (int)__builtin_floor(x); }
static inline unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)(((unsigned long long)a * b) >> 32); }
static inline int __mulhi(int a, int b) { return (int)(((long long)a * b) >> 32); }
static inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return (unsigned long long)(((unsigned __int128)a * b) >> 64);
}
static inline int __popc(unsigned x) { return __builtin_popcount(x); }
static inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
static inline int __clz(int x) { return x == 0 ? 32 : __builtin_clz((unsigned)x); }
static inline int __clzll(long long x) { return x == 0 ? 64 : __builtin_clzll((unsigned long long)x); }
static inline int __ffs(int x) { return __builtin_ffs(x); }
static inline int __ffsll(long long x) { return __builtin_ffsll(x); }
static inline unsigned __brev(unsigned x) {
  unsigned r = 0;
  for (int i = 0; i < 32; ++i) r |= ((x >> i) & 1u) << (31 - i);
  return r;
}

// ---- how the emulator calls an entry: with pointers to its arguments, like cuLaunchKernel
// -----------------------------
template <int...>
struct fourtune_indices {};
template <class... Parameters, int... index>
FOURTUNE_UNCHECKED void fourtune_call(void (*entry)(Parameters...), void** arguments, fourtune_indices<index...>) {
  entry(*(Parameters*)arguments[index]...);
}
template <class... Parameters>
FOURTUNE_UNCHECKED int fourtune_count(void (*)(Parameters...)) {
  return sizeof...(Parameters);
}
template <class... Parameters>
FOURTUNE_UNCHECKED void fourtune_call_entry(void (*entry)(Parameters...), void** arguments) {
  fourtune_call(entry, arguments, fourtune_indices<__integer_pack(sizeof...(Parameters))...>());
}
#define FOURTUNE_ENTRY(number, entry)                                                                             \
  extern "C" __attribute__((visibility("default"), no_sanitize("thread"))) void fourtune_emulated_call_##number(  \
      void** arguments) {                                                                                         \
    fourtune_call_entry(&entry, arguments);                                                                       \
  }                                                                                                               \
  extern "C"                                                                                                      \
      __attribute__((visibility("default"), no_sanitize("thread"))) int fourtune_emulated_parameters_##number() { \
    return fourtune_count(&entry);                                                                                \
  }
