// The list of subproblems, by NUFFT_THREADS threads a block; where groups or bins are few, one block does it, and makes the
// offsets. One kernel a text, chosen by NUFFT_PASS.

// Subproblem i of all: equal shares of its group, not full ones and a rest. parts: subproblems before each group.
NUFFT_DEVICE Task nufft_task(const count* offsets, const count* parts, long long groups, count i) {
  count g = 0, end = static_cast<count>(groups);  // its group: the last with parts[g] <= i
  while (end - g > 1) {
    const count middle = g + (end - g) / 2;
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
  task.group = static_cast<unsigned>(NUFFT_SLICE > 0 ? g % (NUFFT_SLICE_BINS / NUFFT_GROUP_BINS) : g);
  task.unused = 0;
  return task;
}

NUFFT_DEVICE count nufft_parts_of(count points) { return points / NUFFT_CAP + (points % NUFFT_CAP != 0 ? 1 : 0); }

// The first of n things, at most 16384, that belong to this thread, and how many do.
struct Share {
  int from, mine;
};
NUFFT_DEVICE Share nufft_share(long long n) {
  const int all = static_cast<int>(n), per = (all + NUFFT_THREADS - 1) / NUFFT_THREADS;
  const int from = min(static_cast<int>(threadIdx.x) * per, all);
  return {from, min(per, all - from)};
}

// Subproblems before each group of a thread; one more entry for the total. Four groups at a time: sixteen would be four
// times the code, and the offsets are near.
NUFFT_DEVICE void nufft_count_parts(const count* offsets, count* parts, long long groups, count* sums) {
  const Share share = nufft_share(groups);
  const count* at = offsets + share.from * NUFFT_GROUP_BINS;
  count before = 0;
#pragma unroll 1
  for (int pass = 0; pass < 2; ++pass) {
    count start = share.mine > 0 ? at[0] : 0;
#pragma unroll 1
    for (int first = 0; first < share.mine; first += 4) {
      count stop[4];
#pragma unroll
      for (int k = 0; k < 4; ++k) stop[k] = first + k < share.mine ? at[(first + k + 1) * NUFFT_GROUP_BINS] : 0;
#pragma unroll
      for (int k = 0; k < 4; ++k)
        if (first + k < share.mine) {
          if (pass == 1) parts[share.from + first + k] = before;
          before += nufft_parts_of(stop[k] - start);
          start = stop[k];
        }
    }
    if (pass == 0) nufft_scan_threads(before, sums);
  }
  if (share.mine > 0 && share.from + share.mine == groups) parts[groups] = before;
}

#if NUFFT_PASS == 0  // subproblems of each group; one more entry, 0, for the total
extern "C" __global__ void __launch_bounds__(NUFFT_THREADS)
    NUFFT_ENTRY(const count* __restrict__ offsets, count* __restrict__ parts, long long groups) {
  dev_follow();
  const long long g = static_cast<long long>(blockIdx.x) * NUFFT_THREADS + threadIdx.x;
  if (g > groups) return;
  parts[g] = g < groups ? nufft_parts_of(offsets[(g + 1) * NUFFT_GROUP_BINS] - offsets[g * NUFFT_GROUP_BINS]) : 0;
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
  const Share share = nufft_share(bins);
  count* at = offsets + share.from;
  count before = 0;
#pragma unroll
  for (int k = 0; k < 16; ++k) before += k < share.mine ? at[k] : 0;
  nufft_scan_threads(before, sums);
#pragma unroll 1
  for (int first = 0; first < share.mine; first += 4) {
    count n[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) n[k] = first + k < share.mine ? at[first + k] : 0;
#pragma unroll
    for (int k = 0; k < 4; ++k)
      if (first + k < share.mine) {
        at[first + k] = before;
        before += n[k];
      }
  }
  if (share.mine > 0 && share.from + share.mine == bins) offsets[bins] = before;
  __syncthreads();
  nufft_count_parts(offsets, parts, groups, sums);
  __syncthreads();
  for (count i = threadIdx.x; i < parts[groups]; i += NUFFT_THREADS) tasks[i] = nufft_task(offsets, parts, groups, i);
}
#endif
