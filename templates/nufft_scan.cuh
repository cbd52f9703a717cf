// Clearing, and exclusive sums of a long array. One kernel a text, chosen by NUFFT_PASS; 256 threads. Sums take three
// launches of one kernel: tiles of 2048, then the sums of tiles, then the rest; three kernels would take twice as long
// to compile. These texts depend on nothing but the type `count`, so that all problems, and both sides of a type 3,
// share the compiled kernels.

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
#else
NUFFT_DEVICE void nufft_scan_tiles(const count* values, count* tile_sums, long long n, count* sums) {
  const long long first = static_cast<long long>(blockIdx.x) * 2048;
  count mine = 0, total;
  for (int k = 0; k < 8; ++k) {
    const long long i = first + k * 256 + threadIdx.x;
    if (i < n) mine += values[i];
  }
  nufft_block_scan(mine, sums, total);
  if (threadIdx.x == 0) tile_sums[blockIdx.x] = total;
}

// Exclusive sums in place of the 2048 values from `first`, which begin with `before`; returns the sum of all.
NUFFT_DEVICE count nufft_scan_in_place(count* values, long long first, long long n, count before, count* sums) {
  count v[8], mine = 0, total;
  first += threadIdx.x * 8;
  for (int k = 0; k < 8; ++k) {
    v[k] = first + k < n ? values[first + k] : 0;
    mine += v[k];
  }
  before += nufft_block_scan(mine, sums, total);
  for (int k = 0; k < 8; ++k) {
    if (first + k < n) values[first + k] = before;
    before += v[k];
  }
  return total;
}

// step 0: sums of tiles. 1, one block: these become exclusive sums of n tiles. 2: exclusive sums of n values.
extern "C" __global__ void __launch_bounds__(256)
    NUFFT_ENTRY(count* values, count* tile_sums, long long n, long long step) {
  dev_follow();
  NUFFT_SHARED(count, sums);
  if (step == 0) return nufft_scan_tiles(values, tile_sums, n, sums);
  long long first = step == 1 ? 0 : static_cast<long long>(blockIdx.x) * 2048;
  const long long end = step == 1 ? n : first + 2048;
  count* const of = step == 1 ? tile_sums : values;
  count before = step == 1 ? 0 : tile_sums[blockIdx.x];
  for (; first < end; first += 2048) before += nufft_scan_in_place(of, first, n, before, sums);
}
#endif
