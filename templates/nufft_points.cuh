// Points to records in the order of bins. Pass 0 counts the points of each bin and keeps each point's bin and its place
// there; after the counts became offsets, either pass 1 scatters records and indices, or pass 2 scatters indices alone
// (4 bytes, which the cache can gather into whole lines) and pass 3 fetches the coordinates through them, or pass 4 the
// records that pass 0 had left in the caller's order (NUFFT_KEEP == 2). A point that is not finite is put at the origin
// and the first such index goes to *bad.

#if NUFFT_PASS == 0
extern "C" __global__ void __launch_bounds__(256)
    NUFFT_ENTRY(const Points points, const Maps maps, count* counts, count* __restrict__ place,
                count* __restrict__ bins, Record* __restrict__ unsorted, unsigned long long* bad) {
  const long long i = static_cast<long long>(blockIdx.x) * 256 + threadIdx.x;
  const bool valid = i < points.m;
  Placed p;
  count bin = 0;
  if (valid) {
    p = nufft_point(points, i, maps, bad);
    bin = nufft_bin(p.cell, i);
  }
  dev_follow();  // for the clear counts
  const count here = nufft_take_place(counts, bin, valid);
  if (!valid) return;
  place[i] = here;
  if (NUFFT_KEEP) bins[i] = bin;
  if (NUFFT_KEEP == 2) nufft_store(unsorted, static_cast<count>(i), nufft_record(p));
}
#elif NUFFT_PASS == 2
extern "C" __global__ void __launch_bounds__(256)
    NUFFT_ENTRY(const count* __restrict__ offsets, const count* __restrict__ place, const count* __restrict__ bins,
                count* __restrict__ index, long long m) {
  dev_follow();
  const long long i = static_cast<long long>(blockIdx.x) * 256 + threadIdx.x;
  if (i < m) index[offsets[bins[i]] + place[i]] = static_cast<count>(i);
}
#elif NUFFT_PASS == 3
extern "C" __global__ void __launch_bounds__(256)
    NUFFT_ENTRY(const Points points, const Maps maps, const count* __restrict__ index, Record* __restrict__ records,
                unsigned long long* bad) {
  dev_follow();
  const long long i = static_cast<long long>(blockIdx.x) * 256 + threadIdx.x;
  if (i >= points.m) return;
  const Placed p = nufft_point(points, static_cast<long long>(index[i]), maps, bad);
  nufft_store(records, static_cast<count>(i), nufft_record(p));
}
#elif NUFFT_PASS == 4
extern "C" __global__ void __launch_bounds__(256)
    NUFFT_ENTRY(const Record* __restrict__ unsorted, const count* __restrict__ index, Record* __restrict__ records,
                long long m) {
  dev_follow();
  const long long i = static_cast<long long>(blockIdx.x) * 256 + threadIdx.x;
  if (i < m) nufft_store(records, static_cast<count>(i), nufft_load(unsorted, index[i]));
}
#else
extern "C" __global__ void __launch_bounds__(256)
    NUFFT_ENTRY(const Points points, const Maps maps, const count* __restrict__ offsets,
                const count* __restrict__ place, Record* __restrict__ records, count* __restrict__ index,
                unsigned long long* bad) {
  const long long i = static_cast<long long>(blockIdx.x) * 256 + threadIdx.x;
  if (i >= points.m) return dev_follow();
  const Placed p = nufft_point(points, i, maps, bad);
  dev_follow();  // for the offsets
  const count to = NUFFT_SORTED ? offsets[nufft_bin(p.cell, i)] + place[i] : static_cast<count>(i);
  nufft_store(records, to, nufft_record(p));
  index[to] = static_cast<count>(i);
}
#endif
