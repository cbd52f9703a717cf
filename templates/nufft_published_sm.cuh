// SM: a block per subproblem adds its points to a copy of the padded bin in shared memory (equations 13 and 14), a
// thread per point, then the copy to the grid, both by atomics (equation 15).
#define NUFFT_PAD ((NUFFT_W + 1) / 2)  // cells on each side
#define NUFFT_P0 (NUFFT_B0 + 2 * NUFFT_PAD)
#define NUFFT_P1 (NUFFT_B1 + 2 * NUFFT_PAD)
#define NUFFT_P2 (NUFFT_DIM > 2 ? NUFFT_B2 + 2 * NUFFT_PAD : 1)
#define NUFFT_PAD_Z (NUFFT_DIM > 2 ? NUFFT_PAD : 0)

struct Subproblems {
  const Task* list;
  const count* total;
};

extern "C" __global__ void __launch_bounds__(NUFFT_THREADS)
    NUFFT_ENTRY(const real* __restrict__ coordinates, const Fold* __restrict__ folds, const count* __restrict__ index,
                const Subproblems subproblems, const real2* __restrict__ values, real2* __restrict__ grid, long long m,
                const Distances distances) {
  NUFFT_SHARED(real2, bin);
  dev_follow();
  if (blockIdx.x >= *subproblems.total) return;
  const Task task = subproblems.list[blockIdx.x];
  const Corner corner = nufft_corner(task);
  values += blockIdx.y * distances.values;
  grid += blockIdx.y * distances.grid;
  const int t = static_cast<int>(threadIdx.x);
  for (int i = t; i < NUFFT_P0 * NUFFT_P1 * NUFFT_P2; i += NUFFT_THREADS) bin[i] = nufft_zero();
  __syncthreads();
  for (count j = task.start + static_cast<count>(t); j < task.stop; j += NUFFT_THREADS) {
    const long long i = static_cast<long long>(index[j]);
    const Positions at = nufft_positions(coordinates, folds, m, i);
    const Support s = nufft_support(at);
    const real2 c = values[i];
    real2* first = bin +
                   ((at.of[2].cell - corner.z + s.first[2] + NUFFT_PAD_Z) * NUFFT_P1 + at.of[1].cell - corner.y +
                    s.first[1] + NUFFT_PAD) *
                       NUFFT_P0 +
                   at.of[0].cell - corner.x + s.first[0] + NUFFT_PAD;
    for (int a = 0; a < NUFFT_WZ; ++a) {
      const real along_z = nufft_plane_weight(s, a);
      for (int b = 0; b < NUFFT_W; ++b) {
        const real2 value = nufft_scaled(along_z * s.weight[1][b], c);
        real2* row = first + (a * NUFFT_P1 + b) * NUFFT_P0;
#pragma unroll
        for (int k = 0; k < NUFFT_W; ++k) {
          atomicAdd(&row[k].x, s.weight[0][k] * value.x);
          atomicAdd(&row[k].y, s.weight[0][k] * value.y);
        }
      }
    }
  }
  __syncthreads();
  // The last bins may be cut by the grid's end, beyond which their padding reaches.
  const int p0 = min(NUFFT_B0, NUFFT_N0 - corner.x) + 2 * NUFFT_PAD;
  const int p1 = min(NUFFT_B1, NUFFT_N1 - corner.y) + 2 * NUFFT_PAD;
  const int p2 = NUFFT_DIM > 2 ? min(NUFFT_B2, NUFFT_N2 - corner.z) + 2 * NUFFT_PAD : 1;
  for (int i = t; i < p0 * p1 * p2; i += NUFFT_THREADS) {
    const int x = i % p0, y = i / p0 % p1, z = i / (p0 * p1);
    const long long row = nufft_periodic(corner.z + z - NUFFT_PAD_Z, NUFFT_N2);
    real2* to = grid + (row * NUFFT_N1 + nufft_periodic(corner.y + y - NUFFT_PAD, NUFFT_N1)) * NUFFT_N0 +
                nufft_periodic(corner.x + x - NUFFT_PAD, NUFFT_N0);
    const real2 value = bin[(z * NUFFT_P1 + y) * NUFFT_P0 + x];
    atomicAdd(&to->x, value.x);
    atomicAdd(&to->y, value.y);
  }
}
