// Spreading of several transforms at once (nufft_group.cuh). 32 lanes evaluate the weights of 32 points into shared
// memory, with the strengths of all transforms; then the warp takes one point after the other, NUFFT_SLOTS cells of its
// stencil at a time. NUFFT_TILED: the sums are a padded bin in shared memory, one warp a block and one subproblem, so
// that no two lanes touch one cell: no atomics and no block barrier; the bin is added to the grid when done. Else every
// piece goes straight to the grid, 16 bytes a reduction.
// Staged numbers of a point: its strengths, then its weights.
#define NUFFT_SLOTS (32 / NUFFT_PIECES)
#define NUFFT_CELLS ((NUFFT_W * NUFFT_WY + NUFFT_SLOTS - 1) / NUFFT_SLOTS)  // cells of a plane that a lane owns
#define NUFFT_STRENGTHS (2 * NUFFT_GROUP)
#define NUFFT_AT_ONCE (NUFFT_DIM < 3 ? 4 : 1)  // of these cells

extern "C" __global__ void __launch_bounds__(NUFFT_THREADS)
    NUFFT_ENTRY(const Record* __restrict__ records, const count* __restrict__ index,
#if NUFFT_TILED
                const Task* __restrict__ tasks, const count* __restrict__ task_total,
#endif
                const Value* __restrict__ strengths, Piece* __restrict__ grid, long long m, const Distances distances) {
  dev_follow();
  NUFFT_SHARED(Piece, shared);
  const int lane = static_cast<int>(threadIdx.x & 31);
#if !NUFFT_INTERLEAVED
  strengths += blockIdx.y * distances.values * NUFFT_GROUP;
#endif
  grid += blockIdx.y * distances.grid;
#if NUFFT_TILED
  if (blockIdx.x >= *task_total) return;
  const Task task = tasks[blockIdx.x];
  const Corner origin = nufft_corner(task);
  const int x0 = origin.x, y0 = origin.y, z0 = origin.z;
  for (int i = lane; i < NUFFT_TILE_PIECES; i += 32) shared[i] = nufft_no_piece();
  const count begin = task.start, stop = task.stop;
  real* stage = reinterpret_cast<real*>(shared + NUFFT_TILE_PIECES);
#else
  constexpr int x0 = 0, y0 = 0, z0 = 0;  // records hold whole cells
  const count begin = (static_cast<count>(blockIdx.x) * NUFFT_THREADS + threadIdx.x) / 32 * 32;
  if (begin >= m) return;
  const count stop = m - begin < 32 ? static_cast<count>(m) : begin + 32;
  real* stage = reinterpret_cast<real*>(shared) + (threadIdx.x >> 5) * 32 * NUFFT_STAGE;
#endif
  const int part = lane % NUFFT_PIECES, slot = lane / NUFFT_PIECES;
  for (count first = begin; first < stop; first += 32) {
    const int n = stop - first < 32 ? static_cast<int>(stop - first) : 32;
    Located p;
    p.cell[0] = p.cell[1] = p.cell[2] = 0;
    const count mine = lane < n ? __ldg(index + first + lane) : 0;
#if NUFFT_INTERLEAVED
#pragma unroll
    for (int i = 0; i < NUFFT_PIECES; ++i) {
      const int q = i * NUFFT_SLOTS + slot;
      const long long from = static_cast<long long>(__shfl_sync(0xffffffffu, mine, q));
      if (q < n)
        reinterpret_cast<Piece*>(stage + q * NUFFT_STAGE)[part] = __ldg(strengths + from * NUFFT_PIECES + part);
    }
#endif
    if (lane < n) {
      real* to = stage + lane * NUFFT_STAGE;
#if !NUFFT_INTERLEAVED
#pragma unroll
      for (int i = 0; i < NUFFT_PIECES; ++i)
        reinterpret_cast<Piece*>(to)[i] =
            nufft_gather_piece(strengths + mine + i * NUFFT_EACH * distances.values, distances.values);
#endif
      p = nufft_unpack(nufft_load(records, first + lane), x0, y0, z0);
      nufft_stage_point(p, to + NUFFT_STRENGTHS);
    }
#if NUFFT_TILED
    const int corner = (((p.cell[2] - z0) * NUFFT_PY + p.cell[1] - y0) * NUFFT_PX + p.cell[0] - x0) * NUFFT_PIECES;
#endif
    __syncwarp();
    for (int j = 0; j < n; ++j) {
      const real* from = stage + j * NUFFT_STAGE;
      const Piece strength = reinterpret_cast<const Piece*>(from)[part];
      const real* weights = from + NUFFT_STRENGTHS;
#if NUFFT_TILED
      Piece* at = shared + __shfl_sync(0xffffffffu, corner, j) + part;
#else
      const int cx = __shfl_sync(0xffffffffu, p.cell[0], j), cy = __shfl_sync(0xffffffffu, p.cell[1], j);
      const int cz = __shfl_sync(0xffffffffu, p.cell[2], j);
#endif
#pragma unroll
      for (int i = 0; i < NUFFT_CELLS; i += NUFFT_AT_ONCE) {
#if NUFFT_TILED
        Piece sums[NUFFT_AT_ONCE]
                  [NUFFT_WZ];  // all are read before any is written, as the compiler may not reorder that
#pragma unroll
        for (int q = 0; q < NUFFT_AT_ONCE; ++q) {
          const int s = slot + NUFFT_SLOTS * (i + q), dx = s % NUFFT_W, dy = s / NUFFT_W;
          if (s >= NUFFT_W * NUFFT_WY) continue;
#pragma unroll
          for (int a = 0; a < NUFFT_WZ; ++a) sums[q][a] = at[((a * NUFFT_PY + dy) * NUFFT_PX + dx) * NUFFT_PIECES];
        }
#endif
#pragma unroll
        for (int q = 0; q < NUFFT_AT_ONCE; ++q) {
          const int s = slot + NUFFT_SLOTS * (i + q), dx = s % NUFFT_W, dy = s / NUFFT_W;
          if (s >= NUFFT_W * NUFFT_WY) continue;
          const real weight = NUFFT_DIM > 1 ? weights[dx] * weights[NUFFT_W + dy] : weights[dx];
#if NUFFT_TILED
#pragma unroll
          for (int a = 0; a < NUFFT_WZ; ++a) {
            nufft_add_piece(sums[q][a], NUFFT_DIM > 2 ? weight * weights[2 * NUFFT_W + a] : weight, strength);
            at[((a * NUFFT_PY + dy) * NUFFT_PX + dx) * NUFFT_PIECES] = sums[q][a];
          }
#else
          const int y = NUFFT_DIM > 1 ? nufft_wrap(cy + dy, NUFFT_N1) : 0;
          Piece* column =
              grid + (static_cast<long long>(y) * NUFFT_N0 + nufft_wrap(cx + dx, NUFFT_N0)) * NUFFT_PIECES + part;
#pragma unroll
          for (int a = 0; a < NUFFT_WZ; ++a) {
            Piece value = nufft_no_piece();
            nufft_add_piece(value, NUFFT_DIM > 2 ? weight * weights[2 * NUFFT_W + a] : weight, strength);
            const long long plane = NUFFT_DIM > 2 ? nufft_wrap(cz + a, NUFFT_N2) : 0;
            nufft_reduce_piece(column + plane * (NUFFT_PLANE_CELLS * NUFFT_PIECES), value);
          }
#endif
        }
      }
      __syncwarp();
    }
  }
#if NUFFT_TILED
  for (int i = lane; i < NUFFT_TILE_PIECES; i += 32) {
    const Piece value = shared[i];
    if (nufft_is_zero(value)) continue;
    const long long to = nufft_tile_piece(i, x0, y0, z0);
    nufft_reduce_piece(grid + to, value);
  }
#endif
}
