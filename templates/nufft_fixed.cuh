// Spreading in fixed point, the parts beside the spreaders. NUFFT_PASS 0: bounds[0] is the largest part of a strength
// (bits of a double; zero before), bounds[1] the most points of a bin. 1: adds the sums to the grid. 256 threads.
#if NUFFT_PASS == 0
// A bin's place along the last dimension; nufft_bin() numbers them.
NUFFT_DEVICE long long nufft_last_bin(long long bin) {
#if NUFFT_SLIDE == 2
  return bin % NUFFT_NB2;
#elif NUFFT_SLIDE == 1
  return bin % NUFFT_NB1;
#else
  return bin / (NUFFT_NB0 * static_cast<long long>(NUFFT_DIM == 3 ? NUFFT_NB1 : 1));
#endif
}

extern "C" __global__ void __launch_bounds__(256)
    NUFFT_ENTRY(const real2* __restrict__ strengths, const count* __restrict__ offsets, unsigned long long* bounds,
                long long m, long long bins) {
  dev_follow();
  const long long first = static_cast<long long>(blockIdx.x) * 256 + threadIdx.x;
  const long long step = static_cast<long long>(gridDim.x) * 256;
  double largest = 0;
  for (long long i = first; i < m; i += step) {
    const double x = fabs(static_cast<double>(strengths[i].x)), y = fabs(static_cast<double>(strengths[i].y));
    if (x > largest) largest = x;
    if (y > largest) largest = y;
  }
  count most = bins == 0 ? static_cast<count>(m) : 0;
  for (long long b = first; b < min(bins, NUFFT_SLICE_BINS); b += step) {
#if NUFFT_SLAB  // the bins of another slab are counted there
    if (nufft_last_bin(b) < NUFFT_BINS_BEFORE) continue;
#endif
    count points = 0;  // of this bin in all slices
    for (long long at = b; at < bins; at += NUFFT_SLICE_BINS) points += offsets[at + 1] - offsets[at];
    most = max(most, points);
  }
#pragma unroll
  for (int lanes = 16; lanes > 0; lanes /= 2) {
    largest = fmax(largest, __shfl_xor_sync(0xffffffffu, largest, lanes));
    most = max(most, __shfl_xor_sync(0xffffffffu, most, lanes));
  }
  if ((threadIdx.x & 31) != 0) return;
  atomicMax(bounds, static_cast<unsigned long long>(__double_as_longlong(largest)));
  atomicMax(bounds + 1, static_cast<unsigned long long>(most));
}
#else
extern "C" __global__ void __launch_bounds__(256)
    NUFFT_ENTRY(const Cell* __restrict__ sums, const unsigned long long* __restrict__ bounds, real2* __restrict__ grid,
                long long m, long long cells) {
  dev_follow();
#if NUFFT_REST
  const double unit = 1 / (nufft_fixed_scale(bounds, m) * NUFFT_REST_UNITS);
#else
  const double unit = 1 / nufft_fixed_scale(bounds, m);
#endif
  for (long long i = static_cast<long long>(blockIdx.x) * 256 + threadIdx.x; i < cells;
       i += static_cast<long long>(gridDim.x) * 256) {
    const Cell sum = sums[i];
    real2 value = grid[i];
    value.x += static_cast<real>(static_cast<double>(static_cast<long long>(sum.x)) * unit);
    value.y += static_cast<real>(static_cast<double>(static_cast<long long>(sum.y)) * unit);
    grid[i] = value;
  }
}
#endif
