// Sums over a block of NUFFT_THREADS threads.

// The sum of what the warps below this one left in `sums`.
template <class T>
NUFFT_DEVICE T nufft_warps_below(const T* sums) {
  const unsigned lane = threadIdx.x & 31;
  T sum = lane < threadIdx.x >> 5 ? sums[lane] : 0;
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  return sum;
}

// Exclusive sums of n counters in shared memory, in place, and their total at counters[n]. sums: one number a warp.
// Called by all threads after a barrier; ends with one.
NUFFT_DEVICE void nufft_scan_counters(unsigned* counters, unsigned n, unsigned* sums) {
  const unsigned t = threadIdx.x, per = (n + NUFFT_THREADS - 1) / NUFFT_THREADS;
  const unsigned from = min(t * per, n), to = min(from + per, n);
  unsigned mine = 0;
  for (unsigned i = from; i < to; ++i) mine += counters[i];
  unsigned inclusive = mine;
  for (int step = 1; step < 32; step *= 2) {
    const unsigned below = __shfl_up_sync(0xffffffffu, inclusive, step);
    if (static_cast<int>(t & 31) >= step) inclusive += below;
  }
  if ((t & 31) == 31) sums[t >> 5] = inclusive;
  __syncthreads();
  unsigned before = inclusive - mine + nufft_warps_below(sums);
  for (unsigned i = from; i < to; ++i) {
    const unsigned value = counters[i];
    counters[i] = before;
    before += value;
  }
  if (t == NUFFT_THREADS - 1) counters[n] = before;
  __syncthreads();
}

// Value becomes the sum of those of all threads below. sums: one number a warp. Called by all threads.
NUFFT_DEVICE void nufft_scan_threads(count& value, count* sums) {
  const unsigned t = threadIdx.x;
  count inclusive = value;
  for (int step = 1; step < 32; step *= 2) {
    const count below = __shfl_up_sync(0xffffffffu, inclusive, step);
    if (static_cast<int>(t & 31) >= step) inclusive += below;
  }
  __syncthreads();
  if ((t & 31) == 31) sums[t >> 5] = inclusive;
  __syncthreads();
  value = inclusive - value + nufft_warps_below(sums);
}
