// Device functions that every FFT kernel uses. `real` and `real2` are defined above. What a processor cannot run is in a
// dev_ function with a second body for the emulated backend.
#if defined(FOURTUNE_EMULATED)
#define FT_DEVICE inline
#define FT_SHARED(type, name) FOURTUNE_SHARED(type, name)
#else
#define FT_DEVICE __device__ __forceinline__
#define FT_SHARED(type, name)                                       \
  extern __shared__ __align__(128) unsigned char ft_shared_bytes[]; \
  type* name = reinterpret_cast<type*>(ft_shared_bytes)
#endif

FT_DEVICE float ft_fma(float a, float b, float c) { return __fmaf_rn(a, b, c); }
FT_DEVICE double ft_fma(double a, double b, double c) { return __fma_rn(a, b, c); }

FT_DEVICE real2 ft_make(real x, real y) {
  real2 value;
  value.x = x;
  value.y = y;
  return value;
}
// a * b
FT_DEVICE real2 ft_times(real2 a, real2 b) {
  return ft_make(ft_fma(a.x, b.x, -(a.y * b.y)), ft_fma(a.x, b.y, a.y * b.x));
}
FT_DEVICE real2 ft_square(real2 a) { return ft_make(ft_fma(a.x, a.x, -(a.y * a.y)), (a.x + a.x) * a.y); }
// x + i y times w, in registers.
FT_DEVICE void ft_turn(real& x, real& y, real2 w) {
  const real t = ft_fma(x, w.x, -(y * w.y));
  y = ft_fma(x, w.y, y * w.x);
  x = t;
}

// exp(sign 2 pi i index / period), correct to the last digits: half turns are taken off exactly.
FT_DEVICE float2 ft_unit(int sign, unsigned index, unsigned period, float) {
  const int turned = static_cast<int>(2 * index > period ? index - period : index);
  float s, c;
  sincospif(2.0f * static_cast<float>(turned) / static_cast<float>(period), &s, &c);
  return make_float2(c, sign < 0 ? -s : s);
}
FT_DEVICE double2 ft_unit(int sign, unsigned index, unsigned period, double) {
  const int turned = static_cast<int>(2 * index > period ? index - period : index);
  double s, c;
  sincospi(2.0 * static_cast<double>(turned) / static_cast<double>(period), &s, &c);
  return make_double2(c, sign < 0 ? -s : s);
}
// The same by fast intrinsics: absolute error about 1e-6.
FT_DEVICE float2 ft_unit_fast(int sign, unsigned index, unsigned period, float) {
  float s, c;
  const float turn = static_cast<float>(index) / static_cast<float>(period);
  __sincosf(6.28318530717958648f * (turn > 0.5f ? turn - 1.0f : turn), &s, &c);
  return make_float2(c, sign < 0 ? -s : s);
}

FT_DEVICE void dev_mbarrier_init(unsigned long long* barrier) {
#if defined(FOURTUNE_EMULATED)
  fourtune_mbarrier_init(barrier, 1);
#elif __CUDA_ARCH__ >= 900
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(static_cast<unsigned>(__cvta_generic_to_shared(barrier)))
               : "memory");
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#endif
}
FT_DEVICE void dev_mbarrier_expect(unsigned long long* barrier, unsigned bytes) {
#if defined(FOURTUNE_EMULATED)
  fourtune_mbarrier_arrive_expect(barrier, bytes);
#elif __CUDA_ARCH__ >= 900
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(
                   static_cast<unsigned>(__cvta_generic_to_shared(barrier))),
               "r"(bytes)
               : "memory");
#endif
}
FT_DEVICE void dev_mbarrier_wait(unsigned long long* barrier, unsigned parity) {
#if defined(FOURTUNE_EMULATED)
  fourtune_mbarrier_wait(barrier, parity);
#elif __CUDA_ARCH__ >= 900
  unsigned done = 0;
  while (!done)
    asm volatile(
        "{\n\t.reg .pred p;\n\tmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n\tselp.u32 %0, 1, 0, p;\n\t}"
        : "=r"(done)
        : "r"(static_cast<unsigned>(__cvta_generic_to_shared(barrier))), "r"(parity)
        : "memory");
#endif
}
// Copies `bytes` (a multiple of 16) from global to shared memory; the barrier counts them when they land.
FT_DEVICE void dev_bulk_load(void* to, const void* from, unsigned bytes, unsigned long long* barrier) {
#if defined(FOURTUNE_EMULATED)
  fourtune_bulk_copy(to, from, bytes, barrier);
#elif __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                   static_cast<unsigned>(__cvta_generic_to_shared(to))),
               "l"(from), "r"(bytes), "r"(static_cast<unsigned>(__cvta_generic_to_shared(barrier)))
               : "memory");
#endif
}
// Orders this thread's earlier reads of shared memory before later bulk copies into it.
FT_DEVICE void dev_fence_bulk() {
#if !defined(FOURTUNE_EMULATED) && __CUDA_ARCH__ >= 900
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}

// cp.async: the thread's own copies, in groups; the wait leaves the newest `left` groups on their way.
template <class T>
FT_DEVICE void dev_async_load(T* to, const T* from) {
#if defined(FOURTUNE_EMULATED)
  fourtune_async_copy(to, from, sizeof(T));
#elif __CUDA_ARCH__ >= 800
  if (sizeof(T) == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(static_cast<unsigned>(__cvta_generic_to_shared(to))),
                 "l"(from)
                 : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(static_cast<unsigned>(__cvta_generic_to_shared(to))),
                 "l"(from), "n"(sizeof(T) == 4 ? 4 : 8)
                 : "memory");
#else
  *to = *from;
#endif
}
FT_DEVICE void dev_async_commit() {
#if defined(FOURTUNE_EMULATED)
  fourtune_async_commit();
#elif __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
template <int left>
FT_DEVICE void dev_async_wait() {
#if defined(FOURTUNE_EMULATED)
  fourtune_async_wait(left);
#elif __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(left) : "memory");
#endif
}

// Lanes whose numbers differ in `mask` trade: the upper one's `low` for the lower one's `high`.
FT_DEVICE void ft_trade(real& low, real& high, int mask, bool upper) {
  const real got = __shfl_xor_sync(0xffffffffu, upper ? low : high, mask);
  if (upper)
    low = got;
  else
    high = got;
}

// Positions of a dimension of length n of which an array keeps `kept` (pass.h, Window): is position i kept, and where.
FT_DEVICE bool ft_kept_head(unsigned i, unsigned, unsigned kept) { return i < kept; }
FT_DEVICE unsigned ft_position_head(unsigned i, unsigned, unsigned) { return i; }
FT_DEVICE bool ft_kept_wrapped(unsigned i, unsigned n, unsigned kept) {
  return i < (kept + 1) / 2 || i >= n - kept / 2;
}
FT_DEVICE unsigned ft_position_wrapped(unsigned i, unsigned n, unsigned kept) {
  return i < (kept + 1) / 2 ? i : i - (n - kept);
}
FT_DEVICE bool ft_kept_centred(unsigned i, unsigned n, unsigned kept) { return ft_kept_wrapped(i, n, kept); }
FT_DEVICE unsigned ft_position_centred(unsigned i, unsigned n, unsigned kept) {
  return i < (kept + 1) / 2 ? i + kept / 2 : i - (n - kept / 2);
}
// Where the conjugate-symmetric value of index i lies in the stored half.
FT_DEVICE unsigned ft_mirror(unsigned i, unsigned n) { return i > n / 2 ? n - i : i; }
// The same along another dimension of n, where index i of the halved one counts as `mirrored`.
FT_DEVICE unsigned ft_turned(unsigned i, unsigned n, bool mirrored) { return mirrored && i > 0 ? n - i : i; }

// Real lines as complex ones of half the length n (pass.h, Values::pairs): two real values, at once where they lie at a
// multiple of their size.
FT_DEVICE bool ft_even(const real* p) { return reinterpret_cast<unsigned long long>(p) % sizeof(real2) == 0; }
FT_DEVICE real2 ft_pair(const real* p, bool even) {
  return even ? *reinterpret_cast<const real2*>(p) : ft_make(p[0], p[1]);
}
// The compiler would make one of two ways that store the same values: single stores, which fill half of each sector.
FT_DEVICE void dev_store_pair(float* p, float2 v) {
#if defined(FOURTUNE_EMULATED)
  *reinterpret_cast<float2*>(p) = v;
#else
  asm volatile("st.global.v2.f32 [%0], {%1, %2};" ::"l"(__cvta_generic_to_global(p)), "f"(v.x), "f"(v.y) : "memory");
#endif
}
FT_DEVICE void dev_store_pair(double* p, double2 v) {
#if defined(FOURTUNE_EMULATED)
  *reinterpret_cast<double2*>(p) = v;
#else
  asm volatile("st.global.v2.f64 [%0], {%1, %2};" ::"l"(__cvta_generic_to_global(p)), "d"(v.x), "d"(v.y) : "memory");
#endif
}
FT_DEVICE void ft_put_pair(real* p, real x, real y, bool even) {
  if (even) {
    dev_store_pair(p, ft_make(x, y));
  } else {
    p[0] = x;
    p[1] = y;
  }
}
// The positions of value k, 0..n, and of the one opposite to it.
FT_DEVICE unsigned ft_wrapped(unsigned k, unsigned n) { return k == n ? 0 : k; }
FT_DEVICE unsigned ft_opposite(unsigned k, unsigned n) { return k == 0 ? 0 : n - k; }
FT_DEVICE real2 ft_half_turn(real2 w, int side) { return side > 0 ? ft_make(-w.y, w.x) : ft_make(w.y, -w.x); }
// a + conj b + u (a - conj b)
FT_DEVICE void ft_halve(real& x, real& y, real2 a, real2 b, real2 u) {
  const real dx = a.x - b.x, dy = a.y + b.y;
  x = ft_fma(u.x, dx, ft_fma(-u.y, dy, a.x + b.x));
  y = ft_fma(u.x, dy, ft_fma(u.y, dx, a.y - b.y));
}
// The same for two opposite values at once, a at k and b at n - k, where u is conj u of the other one's.
FT_DEVICE void ft_fold(real& ax, real& ay, real& bx, real& by, real2 u) {
  const real sx = ax + bx, sy = ay - by;
  const real2 turned = ft_times(u, ft_make(ax - bx, ay + by));
  ax = sx + turned.x;
  ay = sy + turned.y;
  bx = sx - turned.x;
  by = turned.y - sy;
}

// Clusters: blocks that run together and write each other's shared memory. arrive, then wait: between them a thread may
// do anything but touch another block's memory.
FT_DEVICE unsigned dev_cluster_rank() {
#if defined(FOURTUNE_EMULATED)
  return fourtune_cluster_rank();
#elif __CUDA_ARCH__ >= 900
  unsigned rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
#else
  return 0;
#endif
}
FT_DEVICE void dev_cluster_arrive() {
#if defined(FOURTUNE_EMULATED)
  fourtune_cluster_arrive();
#elif __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
#endif
}
FT_DEVICE void dev_cluster_wait() {
#if defined(FOURTUNE_EMULATED)
  fourtune_cluster_wait();
#elif __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
#endif
}
FT_DEVICE void dev_cluster_sync() {
  dev_cluster_arrive();
  dev_cluster_wait();
}
// The same place in the shared memory of the block of that rank.
template <class T>
FT_DEVICE T* dev_cluster_map(T* local, unsigned rank) {
#if defined(FOURTUNE_EMULATED)
  return fourtune_cluster_map(local, rank);
#elif __CUDA_ARCH__ >= 900
  unsigned long long address;
  asm("mapa.u64 %0, %1, %2;" : "=l"(address) : "l"(reinterpret_cast<unsigned long long>(local)), "r"(rank));
  return reinterpret_cast<T*>(address);
#else
  return local;
#endif
}
