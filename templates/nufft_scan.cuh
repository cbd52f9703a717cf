// Clearing, and exclusive sums of a long array. One kernel a text, chosen by NUFFT_PASS; 256 threads. Sums take three
// launches: tiles of 2048, then the sums of tiles, then the rest. These texts depend on nothing but the type `count`, so
// that all problems, and both sides of a type 3, share the compiled kernels.

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

#if NUFFT_PASS == 0  // clear, and set the status of a sort (marks: its three words; 0: there is none)
extern "C" __global__ void __launch_bounds__(256)
    NUFFT_ENTRY(unsigned long long* at, long long words, unsigned long long* status, long long marks) {
  dev_follow();
  const long long first = static_cast<long long>(blockIdx.x) * 256 + threadIdx.x;
  for (long long i = first; i < words; i += static_cast<long long>(gridDim.x) * 256) at[i] = 0;
  if (first < marks) status[first] = first < 2 ? ~0ull : 0;
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
#else                  // exclusive sums in place, tile_sums being exclusive sums of the tiles
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
#endif
