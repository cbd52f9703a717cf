// GM and GM-sort: one thread per point, which adds w^d products to the grid in global memory or reads as many
// (NUFFT_SPREADS). GM takes points as the caller has them, GM-sort (NUFFT_SORTED) through the index of the bin sort.
extern "C" __global__ void __launch_bounds__(NUFFT_THREADS)
    NUFFT_ENTRY(const real* __restrict__ coordinates, const Fold* __restrict__ folds, const count* __restrict__ index,
#if NUFFT_SPREADS
                const real2* __restrict__ values, real2* __restrict__ grid,
#else
                real2* __restrict__ values, const real2* __restrict__ grid,
#endif
                long long m, const Distances distances) {
  dev_follow();
  const long long j = static_cast<long long>(blockIdx.x) * NUFFT_THREADS + threadIdx.x;
  if (j >= m) return;
#if NUFFT_SORTED
  const long long i = static_cast<long long>(index[j]);
#else
  const long long i = j;
  (void)index;
#endif
  values += blockIdx.y * distances.values;
  grid += blockIdx.y * distances.grid;
  const Positions at = nufft_positions(coordinates, folds, m, i);
  const Support s = nufft_support(at);
  int x[NUFFT_W];
#pragma unroll
  for (int k = 0; k < NUFFT_W; ++k) x[k] = nufft_periodic(at.of[0].cell + s.first[0] + k, NUFFT_N0);
#if NUFFT_SPREADS
  const real2 c = values[i];
#else
  real2 sum = nufft_zero();
#endif
#pragma unroll 1
  for (int a = 0; a < NUFFT_WZ; ++a) {
    const real along_z = nufft_plane_weight(s, a);
    const long long z = nufft_periodic(at.of[2].cell + s.first[2] + a, NUFFT_N2);
#pragma unroll
    for (int b = 0; b < NUFFT_W; ++b) {
      const long long row = (z * NUFFT_N1 + nufft_periodic(at.of[1].cell + s.first[1] + b, NUFFT_N1)) * NUFFT_N0;
      const real weight = along_z * s.weight[1][b];
#if NUFFT_SPREADS
      const real2 value = nufft_scaled(weight, c);
#pragma unroll
      for (int k = 0; k < NUFFT_W; ++k) {
        atomicAdd(&grid[row + x[k]].x, s.weight[0][k] * value.x);
        atomicAdd(&grid[row + x[k]].y, s.weight[0][k] * value.y);
      }
#else
#pragma unroll
      for (int k = 0; k < NUFFT_W; ++k) nufft_add(sum, weight * s.weight[0][k], grid[row + x[k]]);
#endif
    }
  }
#if !NUFFT_SPREADS
  values[i] = sum;
#endif
}
