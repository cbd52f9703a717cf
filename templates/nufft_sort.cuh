// Sort in two levels, for many bins: points are first brought into coarse bins of `per` bins each, then every coarse
// bin is sorted in place by one block in shared memory, so that all large writes are runs. Ranks come from counters in
// shared memory; a global atomic serves a block and a coarse bin, not a point. Inside a block records stay where the
// thread that made them put them, and what is sorted is their order: no registers hold them, and more points fit.
// NUFFT_FINAL: a coarse bin is a bin, and there is no second level.
//
// Coarse bins of more than NUFFT_SEGMENT points (clusters) are sorted by several blocks, chunk by chunk, through counters
// in `offsets` and a copy of these points in `spare`, which has room for `capacity`. Where they are more, nothing is done
// with them: their offsets say that all are in the first bin, status[1] how many there are, status[2] how many the
// largest coarse bin has. The host then launches pass 3 with step > 0, and passes 5, 4, 6 once for each `step` of them:
// coarse bins whose first point is one of the large ones' [from, from + step). Where all fit, step is 0.
// One kernel a text, chosen by NUFFT_PASS. The order of points inside a bin is any.
//
// Behind befores (one for each coarse bin, and all) is the coarse bin of each chunk.
//
// Offsets of a large coarse bin: counters lie one entry further, as counts, then as cursors; once all points are
// placed, each cursor stands at the end of its bin, which is the beginning of the next.
#define NUFFT_READ (NUFFT_DOUBLE ? 2 : 4)
#define NUFFT_ITEMS ((NUFFT_PLACE_POINTS + NUFFT_THREADS - 1) / NUFFT_THREADS)  // of a thread

// A point between the levels, in the arrays of records and indices, and in `spare`.
struct alignas(NUFFT_STAGED_ALIGN) Staged {
  Record record;
  count index;
};
// From and to memory, word by word: its alignment is that of Staged, no more.
NUFFT_DEVICE Staged nufft_taken(const Staged& from) {
  Staged one;
#pragma unroll
  for (int k = 0; k < NUFFT_RECORD_WORDS; ++k) one.record.w[k] = from.record.w[k];
  one.index = from.index;
  return one;
}
NUFFT_DEVICE void nufft_put(Staged& to, const Staged& one) {
#pragma unroll
  for (int k = 0; k < NUFFT_RECORD_WORDS; ++k) to.record.w[k] = one.record.w[k];
  to.index = one.index;
}
NUFFT_DEVICE Staged nufft_staged(const Record* records, const count* index, count i) {
  Staged one;
  one.record = nufft_load_changing(records, i);
  one.index = index[i];
  return one;
}
// Records in shared memory lie word by word: place i of `of`.
NUFFT_DEVICE void nufft_keep(unsigned* words, int of, int i, const Record& record) {
#pragma unroll
  for (int k = 0; k < NUFFT_RECORD_WORDS; ++k) words[k * of + i] = record.w[k];
}
NUFFT_DEVICE Record nufft_kept(const unsigned* words, int of, int i) {
  Record record;
#pragma unroll
  for (int k = 0; k < NUFFT_RECORD_WORDS; ++k) record.w[k] = words[k * of + i];
  return record;
}

// Parameters of kernels: all coarse bins, of `per` bins each; magic is 2^reach / per rounded up.
struct CoarseBins {
  long long all, per, magic, reach;
};
// The second level: coarse bins of `per` bins, all of them; room in `spare`, and whose turn it is (step 0: all).
struct Level {
  long long coarse, per, all_bins, capacity, from, step;
};

// Coarse bin of a bin: bin / per, by a product that is exact below 2^31.
NUFFT_DEVICE unsigned nufft_coarse(count bin, const CoarseBins& coarse) {
  if (sizeof(count) == 8) return static_cast<unsigned>(bin / static_cast<count>(coarse.per));
  return static_cast<unsigned>(static_cast<unsigned long long>(bin) * static_cast<unsigned long long>(coarse.magic) >>
                               coarse.reach);
}

// Its bin within its coarse bin, the first of which is first_bin.
NUFFT_DEVICE unsigned nufft_local_bin(const Staged& one, long long first_bin) {
#if NUFFT_RELATIVE
  (void)first_bin;
  unsigned bin = static_cast<unsigned>(nufft_field<NUFFT_BIN_AT, NUFFT_LOW_BITS>(one.record));
#if NUFFT_STOLEN
  bin |= one.index >> (32 - NUFFT_STOLEN) << NUFFT_LOW_BITS;
#endif
  return bin;
#else
  const Located p = nufft_unpack(one.record, 0, 0, 0);
  return static_cast<unsigned>(nufft_bin(p.cell, static_cast<long long>(one.index)) - static_cast<count>(first_bin));
#endif
}
// To its last place, as a point of that bin.
NUFFT_DEVICE void nufft_settle(Record* records, count* index, count to, Staged one, count bin) {
#if NUFFT_RELATIVE
  const unsigned long long old = nufft_field<NUFFT_BIN_AT, NUFFT_LOW_BITS>(one.record);
  nufft_set<NUFFT_BIN_AT, NUFFT_LOW_BITS>(one.record, old ^ bin % static_cast<count>(NUFFT_GROUP_BINS));
#if NUFFT_STOLEN
  one.index &= 0xffffffffu >> NUFFT_STOLEN;
#endif
#else
  (void)bin;
#endif
  nufft_store(records, to, one.record);
  index[to] = one.index;
}

// Whether a large coarse bin, so many points of large ones before it, is one of this launch's.
NUFFT_DEVICE bool nufft_in_turn(count before, const Level& level) {
  const long long at = static_cast<long long>(before);
  return level.step == 0 || (at >= level.from && at < level.from + level.step);
}

// Room for the points counted in `counters` (sums by now) of n bins: moved[bin] leads from a place in the sorted points
// of this block to its place among all.
NUFFT_DEVICE void nufft_reserve(const unsigned* counters, int n, count* cursors, count* moved) {
#pragma unroll 4
  for (int i = static_cast<int>(threadIdx.x); i < n; i += NUFFT_THREADS) {
    const unsigned before = counters[i], here = counters[i + 1] - before;
    if (here != 0) moved[i] = atomicAdd(cursors + i, static_cast<count>(here)) - before;
  }
}

#if NUFFT_PASS == 0  // points of each coarse bin
extern "C" __global__ void __launch_bounds__(NUFFT_THREADS)
    NUFFT_ENTRY(const Points points, const Maps maps, const CoarseBins coarse, count* counts, unsigned long long* bad) {
  dev_follow();
  NUFFT_SHARED(unsigned, histogram);
  for (int i = static_cast<int>(threadIdx.x); i < coarse.all; i += NUFFT_THREADS) histogram[i] = 0;
  __syncthreads();
  const long long step = static_cast<long long>(gridDim.x) * NUFFT_PLACE_POINTS;
  for (long long first = static_cast<long long>(blockIdx.x) * NUFFT_PLACE_POINTS + threadIdx.x; first < points.m;
       first += step) {
    real at[NUFFT_ITEMS][NUFFT_DIM];
#pragma unroll
    for (int k = 0; k < NUFFT_ITEMS; ++k)
      if (first + k * NUFFT_THREADS < points.m) nufft_read(at[k], points, first + k * NUFFT_THREADS);
#pragma unroll
    for (int k = 0; k < NUFFT_ITEMS; ++k)
      if (first + k * NUFFT_THREADS < points.m) {
        const long long i = first + k * NUFFT_THREADS;
        atomicAdd(histogram + nufft_coarse(nufft_bin(nufft_cells(at[k], i, maps, bad).cell, i), coarse), 1u);
      }
  }
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x); i < coarse.all; i += NUFFT_THREADS)
    if (histogram[i] != 0) atomicAdd(counts + i, static_cast<count>(histogram[i]));
}
#elif NUFFT_PASS == 1  // one block: offsets, cursors, chunks and points of large ones before each, and all of those
extern "C" __global__ void __launch_bounds__(NUFFT_THREADS)
    NUFFT_ENTRY(const count* __restrict__ counts, count* __restrict__ starts, count* __restrict__ cursors,
                count* __restrict__ chunks, count* __restrict__ befores, unsigned long long* status, long long coarse) {
  dev_follow();
  NUFFT_SHARED(count, sums);
  const int all = static_cast<int>(coarse), each = (all + NUFFT_THREADS - 1) / NUFFT_THREADS;
  const int from = min(static_cast<int>(threadIdx.x) * each, all), to = min(from + each, all);
  count points = 0, parts = 0, large = 0, largest = 0;
#pragma unroll 1
  for (int pass = 0; pass < 2; ++pass) {  // sums, then what is before each: one copy of the code
#pragma unroll 1
    for (int first = from; first < to; first += 4) {
      count n[4];
#pragma unroll
      for (int k = 0; k < 4; ++k) n[k] = first + k < to ? counts[first + k] : 0;
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        const bool many = !NUFFT_FINAL && n[k] > NUFFT_SEGMENT;
        if (pass == 1 && first + k < to) {
          starts[first + k] = cursors[first + k] = points;
          chunks[first + k] = parts;
          befores[first + k] = large;
        }
        points += n[k];
        for (count more = many ? (n[k] + NUFFT_SEGMENT - 1) / NUFFT_SEGMENT : 0; more > 0; --more, ++parts)
          if (pass == 1) befores[coarse + 1 + static_cast<long long>(parts)] = static_cast<count>(first + k);
        large += many ? n[k] : 0;
        largest = max(largest, many ? n[k] : 0);
      }
    }
    if (pass == 1) break;
    nufft_scan_threads(points, sums);
    nufft_scan_threads(parts, sums);
    nufft_scan_threads(large, sums);
  }
  if (largest != 0) atomicMax(status + 2, static_cast<unsigned long long>(largest));
  if (to == coarse && from < to) {
    starts[coarse] = points;
    chunks[coarse] = parts;
    befores[coarse] = large;
    status[1] = large;
  }
}
#elif NUFFT_PASS == 2  // points to their coarse bins, `chunk` of them a block
extern "C" __global__ void __launch_bounds__(NUFFT_THREADS)
    NUFFT_ENTRY(const Points points, const Maps maps, const CoarseBins coarse, long long chunk, count* cursors,
                Record* __restrict__ records, count* __restrict__ index, unsigned long long* bad) {
  dev_follow();
  NUFFT_SHARED(unsigned, words);
  unsigned* order = words + NUFFT_RECORD_WORDS * NUFFT_PLACE_POINTS;
  count* moved = reinterpret_cast<count*>(order + NUFFT_PLACE_POINTS);  // from the place here to that among all
  unsigned* counters = reinterpret_cast<unsigned*>(moved + coarse.all);
  unsigned* sums = counters + coarse.all + 1;
  const int t = static_cast<int>(threadIdx.x);
  const long long first = static_cast<long long>(blockIdx.x) * chunk;
  const int n = static_cast<int>(min(points.m - first, chunk));
  for (int i = t; i < coarse.all; i += NUFFT_THREADS) counters[i] = 0;
  __syncthreads();
  // From the top: bits of the bin that go to the index (4), coarse bin (14), rank there; later the place here. What a
  // thread writes it reads again itself: in registers it would need a copy of the loop's body for each point.
  real next[NUFFT_READ][NUFFT_DIM];
  const auto read = [&](int from) {  // so many coordinates at a time, and one group ahead
#pragma unroll
    for (int j = 0; j < NUFFT_READ; ++j) {
      const int i = from + j * NUFFT_THREADS;
      if (i < n) nufft_read(next[j], points, first + i);
    }
  };
  read(t);
#pragma unroll 1
  for (int from = t; from < n; from += NUFFT_READ * NUFFT_THREADS) {
    real at[NUFFT_READ][NUFFT_DIM];
#pragma unroll
    for (int j = 0; j < NUFFT_READ; ++j)
#pragma unroll
      for (int d = 0; d < NUFFT_DIM; ++d) at[j][d] = next[j][d];
    read(from + NUFFT_READ * NUFFT_THREADS);
#pragma unroll
    for (int j = 0; j < NUFFT_READ; ++j) {
      const int i = from + j * NUFFT_THREADS;
      if (i >= n) break;
      const Placed p = nufft_place(at[j], 0, maps, bad);
      const count bin = nufft_bin(p.cell, first + i);
      const unsigned one = nufft_coarse(bin, coarse);
      const unsigned local = NUFFT_FINAL ? static_cast<unsigned>(bin % static_cast<count>(NUFFT_GROUP_BINS))
                                         : static_cast<unsigned>(bin) - one * static_cast<unsigned>(coarse.per);
      nufft_keep(words, NUFFT_PLACE_POINTS, i,
                 nufft_pack(p, local & (NUFFT_LOW_BITS < 32 ? (1ull << NUFFT_LOW_BITS) - 1 : ~0ull)));
      order[i] = (NUFFT_STOLEN && !NUFFT_FINAL ? local >> NUFFT_LOW_BITS << 28 : 0) | one << 14 |
                 atomicAdd(counters + one, 1u);
    }
  }
  unsigned place[NUFFT_ITEMS];
#pragma unroll
  for (int k = 0; k < NUFFT_ITEMS; ++k)
    if (k * NUFFT_THREADS + t < n) place[k] = order[k * NUFFT_THREADS + t];
  __syncthreads();
  nufft_scan_counters(counters, static_cast<unsigned>(coarse.all), sums);
  nufft_reserve(counters, static_cast<int>(coarse.all), cursors, moved);
#pragma unroll
  for (int k = 0; k < NUFFT_ITEMS; ++k) {
    const int i = k * NUFFT_THREADS + t;
    if (i < n)
      order[counters[place[k] >> 14 & 0x3fffu] + (place[k] & 0x3fffu)] =
          (place[k] & ~0x3fffu) | static_cast<unsigned>(i);
  }
  __syncthreads();
#pragma unroll 4
  for (int i = t; i < n; i += NUFFT_THREADS) {
    const unsigned one = order[i], here = one & 0x3fffu;
    const count to = moved[one >> 14 & 0x3fffu] + static_cast<count>(i);
    count number = static_cast<count>(first) + here;
#if NUFFT_STOLEN
    number |= one >> 28 << (32 - NUFFT_STOLEN);
#endif
    nufft_store(records, to, nufft_kept(words, NUFFT_PLACE_POINTS, static_cast<int>(here)));
    index[to] = number;
  }
}
#elif NUFFT_PASS == 4  // sums of the bins' counts of large coarse bins, which become cursors
extern "C" __global__ void __launch_bounds__(NUFFT_THREADS)
    NUFFT_ENTRY(const count* __restrict__ starts, const count* __restrict__ chunks, const count* __restrict__ befores,
                count* __restrict__ offsets, const Level level) {
  dev_follow();
  NUFFT_SHARED(count, sums);
  const unsigned t = threadIdx.x;
  if (level.step == 0 && static_cast<long long>(befores[level.coarse]) > level.capacity) return;
  const long long all = static_cast<long long>(chunks[level.coarse]);
  for (long long chunk = blockIdx.x; chunk < all; chunk += gridDim.x) {
    const long long c = static_cast<long long>(befores[level.coarse + 1 + chunk]);
    if (static_cast<long long>(chunks[c]) != chunk || !nufft_in_turn(befores[c], level)) continue;
    const long long first_bin = c * level.per, bins = min(level.per, level.all_bins - first_bin);
    const long long each = (bins + NUFFT_THREADS - 1) / NUFFT_THREADS;
    count* counts = offsets + first_bin + 1;
    const long long begin = min(t * each, bins), end = min(begin + each, bins);
    count mine = 0;
    for (long long i = begin; i < end; ++i) mine += counts[i];
    count before = mine;
    nufft_scan_threads(before, sums);
    before += starts[c];
    for (long long i = begin; i < end; ++i) {
      const count value = counts[i];
      counts[i] = before;
      before += value;
    }
  }
}
#else
// 3: coarse bins of one segment, a block each, and the offsets of their bins; step > 0: counters of larger ones alone. 5:
// counts of the bins of larger ones, a chunk at a time, and the copy. 6: their points, likewise.
extern "C" __global__ void __launch_bounds__(NUFFT_THREADS)
    NUFFT_ENTRY(Record* records, count* index, Staged* spare, const count* __restrict__ starts,
                const count* __restrict__ chunks, const count* __restrict__ befores, count* offsets,
                const Level level) {
  dev_follow();
  NUFFT_SHARED(count, numbers);                                    // of the points, in pass 5: nothing
  count* moved = numbers + (NUFFT_PASS == 5 ? 0 : NUFFT_SEGMENT);  // pass 6: a bin each
  unsigned* words = reinterpret_cast<unsigned*>(moved + (NUFFT_PASS == 6 ? level.per : 0));
  unsigned short* order =
      reinterpret_cast<unsigned short*>(words + (NUFFT_PASS == 5 ? 0 : NUFFT_RECORD_WORDS * NUFFT_SEGMENT));
  unsigned* counters = reinterpret_cast<unsigned*>(order + (NUFFT_PASS == 5 ? 0 : NUFFT_SEGMENT));
  unsigned* sums = counters + level.per + 1;
  const int t = static_cast<int>(threadIdx.x);
  const bool room = level.step != 0 || static_cast<long long>(befores[level.coarse]) <= level.capacity;
#if NUFFT_PASS == 3
  (void)spare, (void)chunks;
  const long long c = blockIdx.x;
  const count start = starts[c];
  const count here = starts[c + 1] - start;
#else
  if (!room) return;
  const long long all = static_cast<long long>(chunks[level.coarse]);
  for (long long chunk = blockIdx.x; chunk < all; chunk += gridDim.x) {
    const long long c = static_cast<long long>(befores[level.coarse + 1 + chunk]);
    if (!nufft_in_turn(befores[c], level)) continue;
    const count skipped = (static_cast<count>(chunk) - chunks[c]) * NUFFT_SEGMENT;
    const count start = starts[c] + skipped;
    const count here = min(starts[c + 1] - start, static_cast<count>(NUFFT_SEGMENT));
    Staged* copy = spare + (befores[c] - static_cast<count>(level.from)) + skipped;
#endif
  const long long first_bin = c * level.per;
  const int bins = static_cast<int>(min(level.per, level.all_bins - first_bin));
#if NUFFT_PASS == 3
  if (level.step != 0 && here <= NUFFT_SEGMENT) return;
  // Entry first_bin belongs to the coarse bin below if that is large.
  if (t == 0 && (c == 0 || start - starts[c - 1] <= NUFFT_SEGMENT)) offsets[first_bin] = start;
  if (here > NUFFT_SEGMENT) {
    for (int i = t; i < bins; i += NUFFT_THREADS) offsets[first_bin + 1 + i] = room ? 0 : start + here;
    return;
  }
  if (t == 0 && c == level.coarse - 1) offsets[level.all_bins] = start + here;
#endif
  const int n = static_cast<int>(here);
  for (int i = t; i < bins; i += NUFFT_THREADS) counters[i] = 0;
  __syncthreads();
  unsigned place[NUFFT_ITEMS];  // bin and rank there
  Staged some[NUFFT_HELD];
#pragma unroll
  for (int k = 0; k < NUFFT_ITEMS; ++k) {
    if (k % NUFFT_HELD == 0)  // so many at a time
#pragma unroll
      for (int j = 0; j < NUFFT_HELD; ++j) {
        const int i = (k + j) * NUFFT_THREADS + t;
        if (k + j >= NUFFT_ITEMS || i >= n) continue;
#if NUFFT_PASS == 6
        some[j] = nufft_taken(copy[i]);
#else
          some[j] = nufft_staged(records, index, start + static_cast<count>(i));
#endif
      }
    const int i = k * NUFFT_THREADS + t;
    const Staged one = some[k % NUFFT_HELD];
#if NUFFT_PASS == 3
    if (i >= n) continue;
    const unsigned bin = nufft_local_bin(one, first_bin);
    place[k] = bin << 16 | atomicAdd(counters + bin, 1u);
#else
      const unsigned bin = i < n ? nufft_local_bin(one, first_bin) : 0;
      place[k] = bin << 16 | nufft_take_place(counters, bin, i < n);
      if (i >= n) continue;
#endif
#if NUFFT_PASS == 5
    nufft_put(copy[i], one);
#else
      nufft_keep(words, NUFFT_SEGMENT, i, one.record);
      numbers[i] = one.index;
#endif
  }
  __syncthreads();
#if NUFFT_PASS == 5
  for (int i = t; i < bins; i += NUFFT_THREADS)
    if (counters[i] != 0) atomicAdd(offsets + first_bin + 1 + i, static_cast<count>(counters[i]));
  (void)place;
#else
    nufft_scan_counters(counters, static_cast<unsigned>(bins), sums);
#if NUFFT_PASS == 3
    for (int i = t + 1; i < bins; i += NUFFT_THREADS) offsets[first_bin + i] = start + counters[i];
#else
    nufft_reserve(counters, bins, offsets + first_bin + 1, moved);
#endif
#pragma unroll
    for (int k = 0; k < NUFFT_ITEMS; ++k) {
      const int i = k * NUFFT_THREADS + t;
      if (i < n) order[counters[place[k] >> 16] + (place[k] & 0xffffu)] = static_cast<unsigned short>(i);
    }
    __syncthreads();
#pragma unroll 4
    for (int i = t; i < n; i += NUFFT_THREADS) {
      const int at = order[i];
      Staged one;
      one.record = nufft_kept(words, NUFFT_SEGMENT, at);
      one.index = numbers[at];
      const unsigned bin = nufft_local_bin(one, first_bin);
      const count to = static_cast<count>(i) + (NUFFT_PASS == 3 ? start : moved[bin]);
      nufft_settle(records, index, to, one, static_cast<count>(first_bin) + bin);
    }
#endif
#if NUFFT_PASS != 3
  __syncthreads();
}
#endif
}
#endif
