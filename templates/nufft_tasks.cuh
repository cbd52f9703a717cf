// Counts of bins become offsets, and the subproblems of their groups are listed, in one launch. A block takes a tile of
// bins, whole groups if it lists, and has to know what lies before it: points and subproblems of all tiles before. Each
// tile publishes its own numbers as soon as it has them, and adds up what the tiles before have published, back to the
// first one that already knows all before itself. So everything is read and written once, and no launch waits for sums of
// another one. This text depends on nothing but the type `count`, so all problems, and both sides of a type 3, share the
// compiled kernel.
//
// A thread keeps its counts in registers, so that it waits for memory once.
//
// Tiles are numbered in the order in which their blocks begin: nobody waits for a block that has not begun.

// bins, in groups of per_group; `tile` of them are a block's. sums: counts become offsets; else they are offsets. list:
// subproblems of at most `cap` points are listed, a tile has whole groups, at most NUFFT_TILE (sums: and as many bins as threads
// hold, NUFFT_ITEMS each); their numbers begin again
// after slice_groups.
struct Division {
  long long bins, per_group, tile, cap, slice_groups, sums, list;
};

// What a tile publishes of points or of subproblems: nothing yet, its own sum, or the sum up to its end.
#define NUFFT_OWN (1ull << 62)
#define NUFFT_ALL (2ull << 62)

// The sum of all tiles before this one. state: two words a tile, this sum's being the first of each. Called by one warp.
NUFFT_DEVICE unsigned long long nufft_look_back(unsigned long long* state, long long tile, unsigned long long own) {
  const int lane = static_cast<int>(threadIdx.x & 31);
  if (lane == 0) atomicExch(state + 2 * tile, (tile == 0 ? NUFFT_ALL : NUFFT_OWN) | own);
  unsigned long long before = 0;
  unsigned known = 0;  // lanes whose tile knows all before itself
  for (long long last = tile - 1; last >= 0 && known == 0; last -= 32) {
    unsigned long long word = NUFFT_ALL;  // before the first tile there is nothing
    if (last >= lane) {
      word = atomicAdd(state + 2 * (last - lane), 0ull);
      while (word < NUFFT_OWN) {
        __nanosleep(20);
        word = atomicAdd(state + 2 * (last - lane), 0ull);
      }
    }
    known = __ballot_sync(0xffffffffu, word >= NUFFT_ALL);
    unsigned long long sum = known == 0 || lane < __ffs(static_cast<int>(known)) ? word & (NUFFT_OWN - 1) : 0;
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
    before += sum;
  }
  if (lane == 0 && tile > 0) atomicExch(state + 2 * tile, NUFFT_ALL | (before + own));
  return before;
}

NUFFT_DEVICE count nufft_parts_of(count points, count cap) { return points / cap + (points % cap != 0 ? 1 : 0); }

// Subproblem i of the tile: equal shares of its group, not full ones and a rest. starts: of the tile's groups, from
// `base` on; parts: subproblems before each of them.
NUFFT_DEVICE Task nufft_task(const count* starts, const count* parts, int groups, count i, count base) {
  int g = 0, end = groups;  // its group: the last with parts[g] <= i
  while (end - g > 1) {
    const int middle = (g + end) / 2;
    if (parts[middle] <= i)
      g = middle;
    else
      end = middle;
  }
  const count points = starts[g + 1] - starts[g], k = i - parts[g], n = parts[g + 1] - parts[g];
  Task task;
  task.start = base + starts[g] + points / n * k + min(points % n, k);
  task.stop = base + starts[g] + points / n * (k + 1) + min(points % n, k + 1);
  task.group = static_cast<unsigned>(g);
  task.unused = 0;
  return task;
}

// state: a ticket, then two words a tile, all 0 before the launch.
extern "C" __global__ void __launch_bounds__(NUFFT_THREADS)
    NUFFT_ENTRY(count* offsets, Task* __restrict__ tasks, count* total, unsigned long long* state, const Division of) {
  dev_follow();
  NUFFT_SHARED(unsigned long long, head);  // the tile, its points, and points and subproblems before it
  count* sums = reinterpret_cast<count*>(head + 4);
  count *starts = sums + 32, *parts = starts + NUFFT_TILE + 1;
  const int t = static_cast<int>(threadIdx.x), warp = t / 32;
  const bool last_thread = t == NUFFT_THREADS - 1;
  if (t == 0) head[0] = atomicAdd(state, 1ull);
  __syncthreads();
  const long long tile = static_cast<long long>(head[0]), first = tile * of.tile;
  const long long n = min(of.tile, of.bins - first), first_group = of.list ? first / of.per_group : 0;
  const int groups = of.list ? static_cast<int>(n / of.per_group) : 0;
  count* at = offsets + first;
  const int bins = of.sums ? static_cast<int>(n) : 0, per = (bins + NUFFT_THREADS - 1) / NUFFT_THREADS;
  const int from = min(t * per, bins);

  count before = 0;  // points of the threads before this one
  count held[NUFFT_ITEMS];
  if (of.sums) {
#pragma unroll
    for (int k = 0; k < NUFFT_ITEMS; ++k) held[k] = k < per && from + k < bins ? at[from + k] : 0;
#pragma unroll
    for (int k = 0; k < NUFFT_ITEMS; ++k) before += held[k];
    const count mine = before;
    nufft_scan_threads(before, sums);
    if (last_thread) head[1] = before + mine;
    if (of.list) {  // begins of groups
      const int group = static_cast<int>(of.per_group);
      int g = (from + group - 1) / group, next = g * group;
      count running = before;
#pragma unroll
      for (int k = 0; k < NUFFT_ITEMS; ++k) {
        if (k < per && from + k == next && next < bins) starts[g++] = running, next += group;
        running += held[k];
      }
      if (last_thread) starts[groups] = before + mine;
    }
  } else {
    for (int g = t; g <= groups; g += NUFFT_THREADS) starts[g] = at[g * of.per_group];
  }
  __syncthreads();
  if (of.list) {
    const count cap = static_cast<count>(of.cap);
    const int each = (groups + NUFFT_THREADS - 1) / NUFFT_THREADS;
    const int begin = min(t * each, groups), end = min(begin + each, groups);
    count running = 0;
    for (int g = begin; g < end; ++g) running += nufft_parts_of(starts[g + 1] - starts[g], cap);
    nufft_scan_threads(running, sums);
    for (int g = begin; g < end; ++g) {
      parts[g] = running;
      running += nufft_parts_of(starts[g + 1] - starts[g], cap);
    }
    if (last_thread) parts[groups] = running;
    __syncthreads();
  }
  if (warp == 0 && of.sums) {
    const unsigned long long sum = nufft_look_back(state + 1, tile, head[1]);
    if (t == 0) head[2] = sum;
  }
  if (warp == 1 && of.list) {
    const unsigned long long sum = nufft_look_back(state + 2, tile, parts[groups]);
    if (t == 32) head[3] = sum;
  }
  __syncthreads();
  const bool last_tile = first + n == of.bins;
  const count base = of.sums ? static_cast<count>(head[2]) : 0;
  if (of.sums) {
    count running = base + before;
#pragma unroll
    for (int k = 0; k < NUFFT_ITEMS; ++k) {
      if (k < per && from + k < bins) at[from + k] = running;
      running += held[k];
    }
    if (last_tile && last_thread) at[bins] = running;
  }
  if (!of.list) return;
  const count all = parts[groups], listed = static_cast<count>(head[3]);
  if (last_tile && t == 0) *total = listed + all;
  for (count i = static_cast<count>(t); i < all; i += NUFFT_THREADS) {
    Task task = nufft_task(starts, parts, groups, i, base);
    task.group = static_cast<unsigned>((first_group + task.group) % of.slice_groups);
    tasks[listed + i] = task;
  }
}
