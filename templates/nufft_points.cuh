// Points to records in the order of bins. Pass 0 counts the points of each bin and keeps each point's bin and its place
// there; after the counts became offsets, either pass 1 scatters records and indices, or pass 2 scatters indices alone
// (4 bytes, which the cache can gather into whole lines) and pass 3 fetches the coordinates through them, or pass 4 the
// records that pass 0 had left in the caller's order (NUFFT_KEEP == 2). A point that is not finite is put at the origin
// and the first such index goes to *bad.

// First cell of the window and window coordinate of coordinate x. Turns are taken off exactly, products are kept with
// their rounding errors, so that nothing is lost however fine the grid is.
NUFFT_DEVICE bool nufft_locate(real x, double centre, double factor, double factor_low, int n, int& cell, real& z) {
  const double at = static_cast<double>(x), fine = n;
  const double s = at - centre, p = s * factor;
#if NUFFT_DOUBLE
  const double seen = s - at, s_low = (at - (s - seen)) - (centre + seen);
  const double p_low = nufft_fma(s, factor, -p) + nufft_fma(s, factor_low, s_low * factor);
#else
  const double p_low = 0 * factor_low;
#endif
  double r = p - rint(p);
  const bool finite = r * 0 == 0;
  if (!finite) r = 0;
  const double q = r * fine, nearest = rint(q);
  const double rest = (q - nearest) + nufft_fma(finite ? p_low : 0.0, fine, nufft_fma(r, fine, -q));
  const double t = rest - (NUFFT_W % 2 != 0 ? 0.5 : 0.0), up = ceil(t);
  const int first = static_cast<int>(nearest) - NUFFT_W / 2 + static_cast<int>(up);
  cell = first < 0 ? first + n : first;
  z = static_cast<real>(2 * (up - t) - 1);
  return finite;
}

NUFFT_DEVICE Located nufft_point(const real* x, const real* y, const real* z, long long i, const double* map,
                                 unsigned long long* bad) {
  Located p;
  p.z[1] = p.z[2] = 0;
  p.cell[1] = p.cell[2] = 0;
  bool finite = nufft_locate(x[i], map[0], map[1], map[2], NUFFT_N0, p.cell[0], p.z[0]);
#if NUFFT_DIM > 1
  finite = nufft_locate(y[i], map[3], map[4], map[5], NUFFT_N1, p.cell[1], p.z[1]) && finite;
#endif
#if NUFFT_DIM > 2
  finite = nufft_locate(z[i], map[6], map[7], map[8], NUFFT_N2, p.cell[2], p.z[2]) && finite;
#endif
  if (NUFFT_CHECK && !finite) atomicMin(bad, static_cast<unsigned long long>(i));
  return p;
}

// Groups of NUFFT_GROUP_BINS bins lie together: the bins of a column along the slide dimension, or single bins.
NUFFT_DEVICE count nufft_bin(const int* cell) {
  const count b0 = static_cast<count>(cell[0] / NUFFT_B0), b1 = static_cast<count>(cell[1] / NUFFT_B1);
  const count b2 = static_cast<count>(cell[2] / NUFFT_B2);
#if NUFFT_SLIDE == 2
  return (b1 * NUFFT_NB0 + b0) * NUFFT_NB2 + b2;
#elif NUFFT_SLIDE == 1
  return b0 * NUFFT_NB1 + b1;
#else
  return (b2 * NUFFT_NB1 + b1) * NUFFT_NB0 + b0;
#endif
}

#if NUFFT_PASS == 0
extern "C" __global__ void __launch_bounds__(256)
    NUFFT_ENTRY(const real* __restrict__ x, const real* __restrict__ y, const real* __restrict__ z, count* counts,
                count* __restrict__ place, count* __restrict__ bins, Record* __restrict__ unsorted, unsigned long long* bad, long long m, double c0, double f0, double l0,
                double c1, double f1, double l1, double c2, double f2, double l2) {
  const long long i = static_cast<long long>(blockIdx.x) * 256 + threadIdx.x;
  if (i >= m) return;
  const double map[9] = {c0, f0, l0, c1, f1, l1, c2, f2, l2};
  const Located p = nufft_point(x, y, z, i, map, bad);
  const count bin = nufft_bin(p.cell);
  place[i] = atomicAdd(counts + bin, static_cast<count>(1));
  if (NUFFT_KEEP) bins[i] = bin;
  if (NUFFT_KEEP == 2) nufft_store(unsorted + i, p);
}
#elif NUFFT_PASS == 2
extern "C" __global__ void __launch_bounds__(256)
    NUFFT_ENTRY(const count* __restrict__ offsets, const count* __restrict__ place, const count* __restrict__ bins,
                count* __restrict__ index, long long m) {
  const long long i = static_cast<long long>(blockIdx.x) * 256 + threadIdx.x;
  if (i < m) index[offsets[bins[i]] + place[i]] = static_cast<count>(i);
}
#elif NUFFT_PASS == 3
extern "C" __global__ void __launch_bounds__(256)
    NUFFT_ENTRY(const real* __restrict__ x, const real* __restrict__ y, const real* __restrict__ z,
                const count* __restrict__ index, Record* __restrict__ records, unsigned long long* bad, long long m,
                double c0, double f0, double l0, double c1, double f1, double l1, double c2, double f2, double l2) {
  const long long i = static_cast<long long>(blockIdx.x) * 256 + threadIdx.x;
  if (i >= m) return;
  const double map[9] = {c0, f0, l0, c1, f1, l1, c2, f2, l2};
  nufft_store(records + i, nufft_point(x, y, z, static_cast<long long>(index[i]), map, bad));
}
#elif NUFFT_PASS == 4
extern "C" __global__ void __launch_bounds__(256)
    NUFFT_ENTRY(const Record* __restrict__ unsorted, const count* __restrict__ index, Record* __restrict__ records,
                long long m) {
  const long long i = static_cast<long long>(blockIdx.x) * 256 + threadIdx.x;
  if (i < m) nufft_store(records + i, nufft_unpack(nufft_load(unsorted + index[i])));
}
#else
extern "C" __global__ void __launch_bounds__(256)
    NUFFT_ENTRY(const real* __restrict__ x, const real* __restrict__ y, const real* __restrict__ z,
                const count* __restrict__ offsets, const count* __restrict__ place, Record* __restrict__ records,
                count* __restrict__ index, unsigned long long* bad, long long m, double c0, double f0, double l0,
                double c1, double f1, double l1, double c2, double f2, double l2) {
  const long long i = static_cast<long long>(blockIdx.x) * 256 + threadIdx.x;
  if (i >= m) return;
  const double map[9] = {c0, f0, l0, c1, f1, l1, c2, f2, l2};
  const Located p = nufft_point(x, y, z, i, map, bad);
  const count to = NUFFT_SORTED ? offsets[nufft_bin(p.cell)] + place[i] : static_cast<count>(i);
  nufft_store(records + to, p);
  index[to] = static_cast<count>(i);
}
#endif
