// Spreading into a padded bin in shared memory, one subproblem a block, added to the grid when done.
// NUFFT_ATOMIC: a thread per point, atomic adds in shared memory (cuFINUFFT's SM). Else output-driven: the warp goes
// through the points together, a lane owns cells of the stencil, and no two lanes touch one cell: no atomics, and one
// warp a block, so no barrier of a block.
#define NUFFT_PX (NUFFT_B0 + NUFFT_W - 1)
#define NUFFT_PY (NUFFT_DIM > 1 ? NUFFT_B1 + NUFFT_W - 1 : 1)
#define NUFFT_PZ (NUFFT_DIM > 2 ? NUFFT_B2 + NUFFT_W - 1 : 1)
#define NUFFT_WY (NUFFT_DIM > 1 ? NUFFT_W : 1)
#define NUFFT_WZ (NUFFT_DIM > 2 ? NUFFT_W : 1)

extern "C" __global__ void __launch_bounds__(NUFFT_THREADS)
    NUFFT_ENTRY(const Record* __restrict__ records, const count* __restrict__ index, const Task* __restrict__ tasks,
                const count* __restrict__ task_total, const real2* __restrict__ strengths, Cell* __restrict__ grid,
                const Distances distances NUFFT_BOUNDS) {
  NUFFT_SHARED(Cell, tile);
  if (blockIdx.x >= *task_total) return dev_wait_earlier();
  const Task task = tasks[blockIdx.x];
#if NUFFT_FIXED
  dev_wait_earlier();  // for the bounds
  const double scale = nufft_fixed_scale(bounds, distances.values);
#else
  const double scale = 1;
#endif
  strengths += blockIdx.y * distances.values;
  grid += blockIdx.y * distances.grid;
  const Corner origin = nufft_corner(task);
  const int x0 = origin.x, y0 = origin.y, z0 = origin.z;
  const int t = static_cast<int>(threadIdx.x);
  for (int i = t; i < NUFFT_PX * NUFFT_PY * NUFFT_PZ; i += NUFFT_THREADS) tile[i] = nufft_none();
  __syncthreads();
#if NUFFT_ATOMIC
  for (count i = task.start + t; i < task.stop; i += NUFFT_THREADS) {
    const Located p = nufft_unpack(nufft_load(records, i), x0, y0, z0);
    const real2 c = __ldg(strengths + __ldg(index + i));
    real v[3][NUFFT_W];
    v[1][0] = v[2][0] = 1;
#pragma unroll
    for (int d = 0; d < NUFFT_DIM; ++d) nufft_window(p.z[d], v[d]);
    Cell* corner = tile + ((p.cell[2] - z0) * NUFFT_PY + p.cell[1] - y0) * NUFFT_PX + p.cell[0] - x0;
    for (int a = 0; a < NUFFT_WZ; ++a)
      for (int b = 0; b < NUFFT_WY; ++b) {
        const real2 value = nufft_scaled(v[1][b] * v[2][a], c);
        Cell* row = corner + (a * NUFFT_PY + b) * NUFFT_PX;
#pragma unroll
        for (int k = 0; k < NUFFT_W; ++k) {
          Cell sum = nufft_none();
          nufft_sum(sum, v[0][k], value, scale);
          atomicAdd(&row[k].x, sum.x);
          atomicAdd(&row[k].y, sum.y);
        }
      }
  }
#else
  // Staged numbers of a point: w complex of the strength times the last weight, then the others.
  real* stage = reinterpret_cast<real*>(tile + NUFFT_PX * NUFFT_PY * NUFFT_PZ);
  int dx[NUFFT_CELLS], dy[NUFFT_CELLS], from_corner[NUFFT_CELLS];
#pragma unroll
  for (int i = 0; i < NUFFT_CELLS; ++i) {
    const int s = t + 32 * i;
    dx[i] = s % NUFFT_W;
    dy[i] = s / NUFFT_W;
    from_corner[i] = s < NUFFT_W * NUFFT_WY ? dy[i] * NUFFT_PX + dx[i] : -1;
    if (from_corner[i] < 0) dy[i] = 0;
  }
  for (count first = task.start; first < task.stop; first += 32) {
    const int n = task.stop - first < 32 ? static_cast<int>(task.stop - first) : 32;
    int corner = 0;
    if (t < n) {
      const Located p = nufft_unpack(nufft_load(records, first + t), x0, y0, z0);
      const real2 c = __ldg(strengths + __ldg(index + first + t));
      real* to = stage + t * NUFFT_STAGE;
      real v[NUFFT_W];
      nufft_window(p.z[NUFFT_DIM - 1], v);
#pragma unroll
      for (int k = 0; k < NUFFT_W; ++k) reinterpret_cast<real2*>(to)[k] = nufft_scaled(v[k], c);
#pragma unroll
      for (int d = 0; d + 1 < NUFFT_DIM; ++d) {
        nufft_window(p.z[d], v);
#pragma unroll
        for (int k = 0; k < NUFFT_W; ++k) to[(2 + d) * NUFFT_W + k] = v[k];
      }
      corner = ((p.cell[2] - z0) * NUFFT_PY + p.cell[1] - y0) * NUFFT_PX + p.cell[0] - x0;
    }
    __syncwarp();
    for (int j = 0; j < n; ++j) {
      const real* from = stage + j * NUFFT_STAGE;
      Cell* at = tile + __shfl_sync(0xffffffffu, corner, j);
#pragma unroll
      for (int i = 0; i < NUFFT_CELLS; ++i) {
        if (from_corner[i] < 0) continue;
        Cell* cell = at + from_corner[i];
#if NUFFT_DIM == 3
        const real weight = from[2 * NUFFT_W + dx[i]] * from[3 * NUFFT_W + dy[i]];
        Cell sums[NUFFT_W];
#pragma unroll
        for (int a = 0; a < NUFFT_W; ++a) sums[a] = cell[a * NUFFT_PX * NUFFT_PY];
#pragma unroll
        for (int a = 0; a < NUFFT_W; ++a) {
          nufft_sum(sums[a], weight, reinterpret_cast<const real2*>(from)[a], scale);
          cell[a * NUFFT_PX * NUFFT_PY] = sums[a];
        }
#elif NUFFT_DIM == 2
        nufft_sum(*cell, from[2 * NUFFT_W + dx[i]], reinterpret_cast<const real2*>(from)[dy[i]], scale);
#else
        nufft_sum(*cell, 1, reinterpret_cast<const real2*>(from)[dx[i]], scale);
#endif
      }
      __syncwarp();
    }
  }
#endif
  dev_wait_earlier();  // for the clear grid
  __syncthreads();
  for (int i = t; i < NUFFT_PX * NUFFT_PY * NUFFT_PZ; i += NUFFT_THREADS) {
    const Cell value = tile[i];
    if (value.x == 0 && value.y == 0) continue;
    const int x = nufft_wrap(x0 + i % NUFFT_PX, NUFFT_N0), y = nufft_wrap(y0 + i / NUFFT_PX % NUFFT_PY, NUFFT_N1);
    const int z = nufft_wrap(z0 + i / (NUFFT_PX * NUFFT_PY), NUFFT_N2);
    dev_add(grid + (static_cast<long long>(z) * NUFFT_N1 + y) * NUFFT_N0 + x, value);
  }
}
