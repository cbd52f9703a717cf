// Integer work of the sort: clearing, exclusive sums of a long array, and the list of subproblems. One kernel a text,
// chosen by NUFFT_PASS; 256 threads. Sums take three launches: tiles of 2048, then the sums of tiles, then the rest.

// Exclusive sum of one value a thread over the block; `total` is the sum of all. sums: 9 values of shared memory.
NUFFT_DEVICE count nufft_block_scan(count value, count* sums, count& total) {
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  count inclusive = value;
  for (int step = 1; step < 32; step *= 2) {
    const count below = __shfl_up_sync(0xffffffffu, inclusive, step);
    if (lane >= step) inclusive += below;
  }
  __syncthreads();
  if (lane == 31) sums[warp] = inclusive;
  __syncthreads();
  count before = 0;
  total = 0;
  for (int w = 0; w < 8; ++w) {
    if (w == warp) before = total;
    total += sums[w];
  }
  return before + inclusive - value;
}

#if NUFFT_PASS == 0  // clear
extern "C" __global__ void __launch_bounds__(256)
    NUFFT_ENTRY(unsigned long long* at, long long words, long long value) {
  dev_follow();
  for (long long i = static_cast<long long>(blockIdx.x) * 256 + threadIdx.x; i < words;
       i += static_cast<long long>(gridDim.x) * 256)
    at[i] = static_cast<unsigned long long>(value);
}
#elif NUFFT_PASS == 1  // sums of tiles
extern "C" __global__ void __launch_bounds__(256)
    NUFFT_ENTRY(const count* __restrict__ values, count* __restrict__ tile_sums, long long n) {
  dev_follow();
  NUFFT_SHARED(count, sums);
  const long long first = static_cast<long long>(blockIdx.x) * 2048;
  count mine = 0, total;
  for (int k = 0; k < 8; ++k) {
    const long long i = first + k * 256 + threadIdx.x;
    if (i < n) mine += values[i];
  }
  nufft_block_scan(mine, sums, total);
  if (threadIdx.x == 0) tile_sums[blockIdx.x] = total;
}
#elif NUFFT_PASS == 2  // one block: exclusive sums in place
extern "C" __global__ void __launch_bounds__(256) NUFFT_ENTRY(count* values, long long n) {
  dev_follow();
  NUFFT_SHARED(count, sums);
  count carry = 0;
  for (long long first = 0; first < n; first += 2048) {
    count v[8], mine = 0, total;
    for (int k = 0; k < 8; ++k) {
      const long long i = first + threadIdx.x * 8 + k;
      v[k] = i < n ? values[i] : 0;
      mine += v[k];
    }
    count before = carry + nufft_block_scan(mine, sums, total);
    for (int k = 0; k < 8; ++k) {
      const long long i = first + threadIdx.x * 8 + k;
      if (i < n) values[i] = before;
      before += v[k];
    }
    carry += total;
  }
}
#elif NUFFT_PASS == 3  // exclusive sums in place, tile_sums being exclusive sums of the tiles
extern "C" __global__ void __launch_bounds__(256)
    NUFFT_ENTRY(count* values, const count* __restrict__ tile_sums, long long n) {
  dev_follow();
  NUFFT_SHARED(count, sums);
  const long long first = static_cast<long long>(blockIdx.x) * 2048 + threadIdx.x * 8;
  count v[8], mine = 0, total;
  for (int k = 0; k < 8; ++k) {
    v[k] = first + k < n ? values[first + k] : 0;
    mine += v[k];
  }
  count before = tile_sums[blockIdx.x] + nufft_block_scan(mine, sums, total);
  for (int k = 0; k < 8; ++k) {
    if (first + k < n) values[first + k] = before;
    before += v[k];
  }
}
#elif NUFFT_PASS == 4  // subproblems of each group; one more entry, 0, for the total
extern "C" __global__ void __launch_bounds__(256)
    NUFFT_ENTRY(const count* __restrict__ offsets, count* __restrict__ parts, long long groups) {
  dev_follow();
  const long long g = static_cast<long long>(blockIdx.x) * 256 + threadIdx.x;
  if (g > groups) return;
  count n = 0;
  if (g < groups) {
    const count points = offsets[(g + 1) * NUFFT_GROUP_BINS] - offsets[g * NUFFT_GROUP_BINS];
    n = points / NUFFT_CAP + (points % NUFFT_CAP != 0 ? 1 : 0);
  }
  parts[g] = n;
}
#elif NUFFT_PASS == 6  // what a sort needs clear: counts, and the status
extern "C" __global__ void __launch_bounds__(256)
    NUFFT_ENTRY(unsigned long long* at, long long words, unsigned long long* status) {
  dev_follow();
  const long long first = static_cast<long long>(blockIdx.x) * 256 + threadIdx.x;
  for (long long i = first; i < words; i += static_cast<long long>(gridDim.x) * 256) at[i] = 0;
  if (first < 3) status[first] = first < 2 ? ~0ull : 0;
}
#else                  // the list, a thread a subproblem
extern "C" __global__ void __launch_bounds__(256)
    NUFFT_ENTRY(const count* __restrict__ offsets, const count* __restrict__ parts, Task* __restrict__ tasks,
                long long groups) {
  dev_follow();
  const count i = static_cast<count>(blockIdx.x) * 256 + threadIdx.x;
  if (i >= parts[groups]) return;
  tasks[i] = nufft_task(offsets, parts, groups, i);
}
#endif
