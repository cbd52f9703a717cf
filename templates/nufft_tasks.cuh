// Few groups or bins: one block makes offsets and the list of subproblems. One kernel a text, chosen by NUFFT_PASS.

// Subproblems before each of at most 16 groups a thread; one more entry for the total.
NUFFT_DEVICE void nufft_count_parts(const count* offsets, count* parts, long long groups, count* sums) {
  const long long per = (groups + NUFFT_THREADS - 1) / NUFFT_THREADS;
  const long long from = min(threadIdx.x * per, groups), to = min(from + per, groups);
  count n[16], before = 0, start = from < to ? offsets[from * NUFFT_GROUP_BINS] : 0;
#pragma unroll
  for (int k = 0; k < 16; ++k) n[k] = from + k < to ? offsets[(from + k + 1) * NUFFT_GROUP_BINS] : 0;
#pragma unroll
  for (int k = 0; k < 16; ++k)
    if (from + k < to) {
      const count points = n[k] - start;
      start = n[k];
      n[k] = points / NUFFT_CAP + (points % NUFFT_CAP != 0 ? 1 : 0);
      before += n[k];
    }
  nufft_scan_threads(before, sums);
#pragma unroll
  for (int k = 0; k < 16; ++k)
    if (from + k < to) {
      parts[from + k] = before;
      before += n[k];
    }
  if (to == groups && from < to) parts[groups] = before;
}

#if NUFFT_PASS == 7  // one block: subproblems before each group
extern "C" __global__ void __launch_bounds__(NUFFT_THREADS)
    NUFFT_ENTRY(const count* offsets, count* parts, long long groups) {
  dev_follow();
  NUFFT_SHARED(count, sums);
  nufft_count_parts(offsets, parts, groups, sums);
}
#else  // one block: counts of bins become offsets, and the subproblems are listed
extern "C" __global__ void __launch_bounds__(NUFFT_THREADS)
    NUFFT_ENTRY(count* offsets, count* parts, Task* tasks, long long bins, long long groups) {
  dev_follow();
  NUFFT_SHARED(count, sums);
  const long long per = (bins + NUFFT_THREADS - 1) / NUFFT_THREADS;
  const long long from = min(threadIdx.x * per, bins), to = min(from + per, bins);
  count n[16], before = 0;
#pragma unroll
  for (int k = 0; k < 16; ++k) {
    n[k] = from + k < to ? offsets[from + k] : 0;
    before += n[k];
  }
  nufft_scan_threads(before, sums);
#pragma unroll
  for (int k = 0; k < 16; ++k)
    if (from + k < to) {
      offsets[from + k] = before;
      before += n[k];
    }
  if (to == bins && from < to) offsets[bins] = before;
  __syncthreads();
  nufft_count_parts(offsets, parts, groups, sums);
  __syncthreads();
  for (count i = threadIdx.x; i < parts[groups]; i += NUFFT_THREADS) tasks[i] = nufft_task(offsets, parts, groups, i);
}
#endif
