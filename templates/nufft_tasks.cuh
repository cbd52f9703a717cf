// The list of subproblems, by NUFFT_THREADS threads a block; where groups or bins are few, one block does it, and makes the
// offsets. One kernel a text, chosen by NUFFT_PASS.

// Subproblem i of all: equal shares of its group, not full ones and a rest. parts: subproblems before each group.
NUFFT_DEVICE Task nufft_task(const count* offsets, const count* parts, long long groups, count i) {
  long long g = 0, end = groups;  // its group: the last with parts[g] <= i
  while (end - g > 1) {
    const long long middle = (g + end) / 2;
    if (parts[middle] <= i)
      g = middle;
    else
      end = middle;
  }
  const count start = offsets[g * NUFFT_GROUP_BINS], stop = offsets[(g + 1) * NUFFT_GROUP_BINS];
  const count k = i - parts[g], n = parts[g + 1] - parts[g];
  Task task;
  task.start = start + (stop - start) / n * k + min((stop - start) % n, k);
  task.stop = start + (stop - start) / n * (k + 1) + min((stop - start) % n, k + 1);
  task.group = static_cast<unsigned>(g % (NUFFT_SLICE_BINS / NUFFT_GROUP_BINS));
  task.unused = 0;
  return task;
}

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

#if NUFFT_PASS == 0  // subproblems of each group; one more entry, 0, for the total
extern "C" __global__ void __launch_bounds__(NUFFT_THREADS)
    NUFFT_ENTRY(const count* __restrict__ offsets, count* __restrict__ parts, long long groups) {
  dev_follow();
  const long long g = static_cast<long long>(blockIdx.x) * NUFFT_THREADS + threadIdx.x;
  if (g > groups) return;
  count n = 0;
  if (g < groups) {
    const count points = offsets[(g + 1) * NUFFT_GROUP_BINS] - offsets[g * NUFFT_GROUP_BINS];
    n = points / NUFFT_CAP + (points % NUFFT_CAP != 0 ? 1 : 0);
  }
  parts[g] = n;
}
#elif NUFFT_PASS == 1  // the list, a thread a subproblem
extern "C" __global__ void __launch_bounds__(NUFFT_THREADS)
    NUFFT_ENTRY(const count* __restrict__ offsets, const count* __restrict__ parts, Task* __restrict__ tasks,
                long long groups) {
  dev_follow();
  const count i = static_cast<count>(blockIdx.x) * NUFFT_THREADS + threadIdx.x;
  if (i >= parts[groups]) return;
  tasks[i] = nufft_task(offsets, parts, groups, i);
}
#elif NUFFT_PASS == 2  // one block: subproblems before each group
extern "C" __global__ void __launch_bounds__(NUFFT_THREADS)
    NUFFT_ENTRY(const count* offsets, count* parts, long long groups) {
  dev_follow();
  NUFFT_SHARED(count, sums);
  nufft_count_parts(offsets, parts, groups, sums);
}
#else                  // one block: counts of bins become offsets, and the subproblems are listed
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
