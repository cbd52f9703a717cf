// Interpolation: NUFFT_LANES lanes serve one point, a lane per x cell (one: a thread per point). NUFFT_TILED: one
// subproblem a block, its padded bin copied to shared memory first; else the grid is read through the caches. With
// several lanes a warp takes 32 points at a time, or fewer where there are few: a point is a long chain of loads, so no
// warp should walk points that others could take.
#define NUFFT_PX (NUFFT_B0 + NUFFT_W - 1)
#define NUFFT_PY (NUFFT_DIM > 1 ? NUFFT_B1 + NUFFT_W - 1 : 1)
#define NUFFT_PZ (NUFFT_DIM > 2 ? NUFFT_B2 + NUFFT_W - 1 : 1)
#define NUFFT_WY (NUFFT_DIM > 1 ? NUFFT_W : 1)
#define NUFFT_WZ (NUFFT_DIM > 2 ? NUFFT_W : 1)

#define NUFFT_AT_ONCE (32 / NUFFT_LANES)  // points that a warp sums at a time

// Points of a warp: its part of n, in whole rounds; at most 32.
NUFFT_DEVICE int nufft_share(count n, long long warps) {
  const long long each = (static_cast<long long>(n) + warps - 1) / warps;
  return static_cast<int>(min((each + NUFFT_AT_ONCE - 1) / NUFFT_AT_ONCE * NUFFT_AT_ONCE, 32ll));
}

// The sum of cell(a, b, k) over the window, k along x: one lane's work.
// Weights of x and y are in registers, those of z, for a loop that is not unrolled, in shared memory.
template <class Cell>
NUFFT_DEVICE real2 nufft_sum_rows(const real (*v)[NUFFT_W], const real* along_z, Cell cell) {
  real2 sum = nufft_zero();
  for (int a = 0; a < NUFFT_WZ; ++a) {
    real2 plane = nufft_zero();
#pragma unroll
    for (int b = 0; b < NUFFT_WY; ++b) {
      real2 row = nufft_zero();
#pragma unroll
      for (int k = 0; k < NUFFT_W; ++k) nufft_add(row, v[0][k], cell(a, b, k));
      nufft_add(plane, v[1][b], row);
    }
    nufft_add(sum, NUFFT_DIM > 2 ? along_z[a * 33] : 1, plane);
  }
  return sum;
}

// Weights of 32 points of a warp: [number][point], in shared memory.
NUFFT_DEVICE void nufft_stage_weights(const Located& p, real* stage, int lane) {
  real v[NUFFT_W];
#pragma unroll
  for (int d = 0; d < NUFFT_DIM; ++d) {
    nufft_window(p.z[d], v);
#pragma unroll
    for (int k = 0; k < NUFFT_W; ++k) stage[(d * NUFFT_W + k) * 33 + lane] = v[k];
  }
}

extern "C" __global__ void __launch_bounds__(NUFFT_THREADS)
    NUFFT_ENTRY(const Record* __restrict__ records, const count* __restrict__ index,
#if NUFFT_TILED
                const Task* __restrict__ tasks, const count* __restrict__ task_total,
#endif
                const real2* __restrict__ grid, real2* __restrict__ values, long long m, const Distances distances) {
  NUFFT_SHARED(real2, shared);
  const int lane = static_cast<int>(threadIdx.x & 31), warp = static_cast<int>(threadIdx.x >> 5);
  values += blockIdx.y * distances.values;
  grid += blockIdx.y * distances.grid;
#if NUFFT_TILED
  if (blockIdx.x >= *task_total) return dev_follow();
  const Task task = tasks[blockIdx.x];
  dev_follow();
  const Corner origin = nufft_corner(task);
  const int x0 = origin.x, y0 = origin.y, z0 = origin.z;
  for (int i = static_cast<int>(threadIdx.x); i < NUFFT_PX * NUFFT_PY * NUFFT_PZ; i += NUFFT_THREADS) {
    const int x = nufft_wrap(x0 + i % NUFFT_PX, NUFFT_N0), y = nufft_wrap(y0 + i / NUFFT_PX % NUFFT_PY, NUFFT_N1);
    const int z = nufft_wrap(z0 + i / (NUFFT_PX * NUFFT_PY), NUFFT_N2);
    const bool inside = x < NUFFT_N0 && y < NUFFT_N1 && z < NUFFT_N2;  // not past the reach of a cut bin
    shared[i] = inside ? __ldg(grid + (static_cast<long long>(z) * NUFFT_N1 + y) * NUFFT_N0 + x) : nufft_zero();
  }
  __syncthreads();
  const count begin = task.start, stop = task.stop;
  real* stage = reinterpret_cast<real*>(shared + NUFFT_PX * NUFFT_PY * NUFFT_PZ) + warp * NUFFT_STAGE_WARP;
#else
  constexpr int x0 = 0, y0 = 0, z0 = 0;  // records hold whole cells
  const int share = NUFFT_LANES == 1 ? 32 : nufft_share(static_cast<count>(m), gridDim.x * (NUFFT_THREADS / 32ll));
  const count begin = min(static_cast<count>(blockIdx.x) * (NUFFT_THREADS / 32 * share), static_cast<count>(m));
  const count stop = min(begin + NUFFT_THREADS / 32 * share, static_cast<count>(m));
  real* stage = reinterpret_cast<real*>(shared) + warp * NUFFT_STAGE_WARP;
#endif
#if NUFFT_LANES == 1
  for (count i = begin + threadIdx.x; i < stop; i += NUFFT_THREADS) {
    const Located p = nufft_unpack(nufft_load(records, i), x0, y0, z0);
    real v[2][NUFFT_W];
    real* along_z = stage + lane;
#if NUFFT_DIM == 3
    nufft_window(p.z[2], v[0]);
#pragma unroll
    for (int k = 0; k < NUFFT_W; ++k) along_z[k * 33] = v[0][k];
#endif
    v[1][0] = 1;
#pragma unroll
    for (int d = 0; d < NUFFT_DIM && d < 2; ++d) nufft_window(p.z[d], v[d]);
    dev_wait_earlier();  // for the grid
#if NUFFT_TILED
    const real2* corner = shared + ((p.cell[2] - z0) * NUFFT_PY + p.cell[1] - y0) * NUFFT_PX + p.cell[0] - x0;
    values[index[i]] =
        nufft_sum_rows(v, along_z, [&](int a, int b, int k) { return corner[(a * NUFFT_PY + b) * NUFFT_PX + k]; });
#else
    const auto row = [&](int a, int b) {
      const int y = NUFFT_DIM > 1 ? nufft_wrap(p.cell[1] + b, NUFFT_N1) : 0;
      const int z = NUFFT_DIM > 2 ? nufft_wrap(p.cell[2] + a, NUFFT_N2) : 0;
      return grid + (static_cast<long long>(z) * NUFFT_N1 + y) * NUFFT_N0;
    };
    if (p.cell[0] + NUFFT_W <= NUFFT_N0)
      values[index[i]] =
          nufft_sum_rows(v, along_z, [&](int a, int b, int k) { return __ldg(row(a, b) + p.cell[0] + k); });
    else
      values[index[i]] = nufft_sum_rows(
          v, along_z, [&](int a, int b, int k) { return __ldg(row(a, b) + nufft_wrap(p.cell[0] + k, NUFFT_N0)); });
#endif
  }
#else
  int* cells = reinterpret_cast<int*>(stage + NUFFT_DIM * NUFFT_W * 33);
#if NUFFT_TILED
  const int share = nufft_share(stop - begin, NUFFT_THREADS / 32);
#endif
  for (count first = begin + warp * share; first < stop; first += NUFFT_THREADS / 32 * share) {
    const int n = static_cast<int>(min(stop - first, static_cast<count>(share)));
    if (lane < n) {
      const Located p = nufft_unpack(nufft_load(records, first + lane), x0, y0, z0);
      nufft_stage_weights(p, stage, lane);
#pragma unroll
      for (int d = 0; d < NUFFT_DIM; ++d) cells[d * 32 + lane] = p.cell[d];
    }
    dev_wait_earlier();  // for the grid
    __syncwarp();
    const int member = lane % NUFFT_LANES;
    for (int base = 0; base < n; base += NUFFT_AT_ONCE) {  // all lanes stay together for the shuffles
      const int j = min(base + lane / NUFFT_LANES, n - 1);
      const real* weights = stage + j;
      const int cx = cells[j], cy = NUFFT_DIM > 1 ? cells[32 + j] : 0, cz = NUFFT_DIM > 2 ? cells[64 + j] : 0;
      real2 result = nufft_zero();
      for (int k = member; k < NUFFT_W; k += NUFFT_LANES) {
        real2 along_x = nufft_zero();
#if NUFFT_TILED
        const real2* column = shared + ((cz - z0) * NUFFT_PY + cy - y0) * NUFFT_PX + cx - x0 + k;
#else
        const real2* column = grid + nufft_wrap(cx + k, NUFFT_N0);
#endif
        for (int a = 0; a < NUFFT_WZ; ++a) {
          real2 along_y = nufft_zero();
#if !NUFFT_TILED
          const real2* plane = column + static_cast<long long>(nufft_wrap(cz + a, NUFFT_N2)) *
                                            (NUFFT_N0 * static_cast<long long>(NUFFT_N1));
#endif
#pragma unroll
          for (int b = 0; b < NUFFT_WY; ++b) {
#if NUFFT_TILED
            const real2 value = column[(a * NUFFT_PY + b) * NUFFT_PX];
#else
            const real2 value = __ldg(plane + static_cast<long long>(nufft_wrap(cy + b, NUFFT_N1)) * NUFFT_N0);
#endif
            nufft_add(along_y, NUFFT_DIM > 1 ? weights[(NUFFT_W + b) * 33] : 1, value);
          }
          nufft_add(along_x, NUFFT_DIM > 2 ? weights[(2 * NUFFT_W + a) * 33] : 1, along_y);
        }
        nufft_add(result, weights[k * 33], along_x);
      }
#pragma unroll
      for (int step = NUFFT_LANES / 2; step > 0; step /= 2) {
        result.x += __shfl_xor_sync(0xffffffffu, result.x, step);
        result.y += __shfl_xor_sync(0xffffffffu, result.y, step);
      }
      if (member == 0 && base + lane / NUFFT_LANES < n) values[index[first + j]] = result;
    }
    __syncwarp();
  }
#endif
  dev_follow();
}
