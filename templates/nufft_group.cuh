// What the kernels that take NUFFT_GROUP transforms at once share. Their grids are interleaved, transform fastest. A lane
// holds a piece of a cell: 16 bytes, two transforms in single and one in double precision. NUFFT_PIECES lanes a cell.
#if NUFFT_DOUBLE
typedef double2 Piece;
NUFFT_DEVICE Piece nufft_no_piece() { return make_double2(0, 0); }
NUFFT_DEVICE void nufft_add_piece(Piece& sum, real a, const Piece& v) { nufft_add(sum, a, v); }
NUFFT_DEVICE bool nufft_is_zero(const Piece& v) { return v.x == 0 && v.y == 0; }
NUFFT_DEVICE Piece nufft_gather_piece(const real2* from, long long) { return __ldg(from); }
NUFFT_DEVICE void nufft_scatter_piece(real2* to, long long, const Piece& v) { *to = v; }
NUFFT_DEVICE void nufft_reduce_piece(Piece* at, const Piece& v) { dev_add(at, v); }
#else
typedef float4 Piece;
NUFFT_DEVICE Piece nufft_no_piece() { return make_float4(0, 0, 0, 0); }
NUFFT_DEVICE void nufft_add_piece(Piece& sum, real a, const Piece& v) {
  sum.x = nufft_fma(a, v.x, sum.x);
  sum.y = nufft_fma(a, v.y, sum.y);
  sum.z = nufft_fma(a, v.z, sum.z);
  sum.w = nufft_fma(a, v.w, sum.w);
}
NUFFT_DEVICE bool nufft_is_zero(const Piece& v) { return v.x == 0 && v.y == 0 && v.z == 0 && v.w == 0; }
// A piece of a point's values, which are `distance` apart.
NUFFT_DEVICE Piece nufft_gather_piece(const real2* from, long long distance) {
  const real2 a = __ldg(from), b = __ldg(from + distance);
  return make_float4(a.x, a.y, b.x, b.y);
}
NUFFT_DEVICE void nufft_scatter_piece(real2* to, long long distance, const Piece& v) {
  to[0] = make_float2(v.x, v.y);
  to[distance] = make_float2(v.z, v.w);
}
NUFFT_DEVICE void nufft_reduce_piece(Piece* at, const Piece& v) {
  dev_add_pair(reinterpret_cast<float2*>(at), make_float2(v.x, v.y), make_float2(v.z, v.w));
}
#endif
#if NUFFT_INTERLEAVED
typedef Piece Value;  // of the array of values: pieces of a point side by side
#else
typedef real2 Value;
#endif
#define NUFFT_EACH (NUFFT_DOUBLE ? 1 : 2)  // transforms of a piece
#define NUFFT_PX (NUFFT_B0 + NUFFT_W - 1)
#define NUFFT_PY (NUFFT_DIM > 1 ? NUFFT_B1 + NUFFT_W - 1 : 1)
#define NUFFT_PZ (NUFFT_DIM > 2 ? NUFFT_B2 + NUFFT_W - 1 : 1)
#define NUFFT_TILE_PIECES (NUFFT_PX * NUFFT_PY * NUFFT_PZ * NUFFT_PIECES)
#define NUFFT_WY (NUFFT_DIM > 1 ? NUFFT_W : 1)
#define NUFFT_WZ (NUFFT_DIM > 2 ? NUFFT_W : 1)

// Where a piece of a tile lies in the grid; -1: past the reach of a cut bin.
NUFFT_DEVICE long long nufft_tile_piece(int i, int x0, int y0, int z0) {
  const int cell = i / NUFFT_PIECES;
  const int x = nufft_wrap(x0 + cell % NUFFT_PX, NUFFT_N0), y = nufft_wrap(y0 + cell / NUFFT_PX % NUFFT_PY, NUFFT_N1);
  const int z = nufft_wrap(z0 + cell / (NUFFT_PX * NUFFT_PY), NUFFT_N2);
  if (x >= NUFFT_N0 || y >= NUFFT_N1 || z >= NUFFT_N2) return -1;
  return ((static_cast<long long>(z) * NUFFT_N1 + y) * NUFFT_N0 + x) * NUFFT_PIECES + i % NUFFT_PIECES;
}

// 16 bytes from global to shared memory, on their way until nufft_copied.
NUFFT_DEVICE void nufft_copy(Piece* to, const Piece* from) {
#if defined(FOURTUNE_EMULATED)
  fourtune_async_copy(to, from, 16);
#elif __CUDA_ARCH__ >= 800
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(static_cast<unsigned>(__cvta_generic_to_shared(to))),
               "l"(from)
               : "memory");
#else
  *to = *from;
#endif
}
NUFFT_DEVICE void nufft_copied() {
#if defined(FOURTUNE_EMULATED)
  fourtune_async_commit();
  fourtune_async_wait(0);
#elif __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;\ncp.async.wait_group 0;" ::: "memory");
#endif
}

// Weights of a point, [dimension][number].
NUFFT_DEVICE void nufft_stage_point(const Located& p, real* to) {
  real v[NUFFT_W];
#pragma unroll
  for (int d = 0; d < NUFFT_DIM; ++d) {
    nufft_window(p.z[d], v);
#pragma unroll
    for (int k = 0; k < NUFFT_W; ++k) to[d * NUFFT_W + k] = v[k];
  }
}
