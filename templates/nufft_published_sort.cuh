// The published bin sort, 256 threads. Pass 0 counts the points of each bin and keeps every point's place there; after
// the counts became offsets, pass 1 writes the index array. Coordinates are copied, because a transform keeps nothing
// of the caller; without NUFFT_SORTED (GM) that is all.
#if NUFFT_PASS == 0
NUFFT_DEVICE Fold nufft_fold_of(const Map& map, int n) {
  const double cells = map.factor * n,
               rest = nufft_fma(map.factor, static_cast<double>(n), -cells) + map.factor_low * n;
  Fold f;
  f.centre = static_cast<real>(map.centre);
  f.centre_low = static_cast<real>((map.centre - static_cast<double>(f.centre)) + map.centre_low);
  f.cells = static_cast<real>(cells);
  f.cells_low = static_cast<real>((cells - static_cast<double>(f.cells)) + rest);
  return f;
}

// A coordinate whose position is no int (or none at all, which is then the centre), brought into the first period.
NUFFT_DEVICE real nufft_bring_near(real x, const Map& map, bool& finite) {
  const double at = static_cast<double>(x), s = at - map.centre, p = s * map.factor;
  const double seen = s - at, s_low = (at - (s - seen)) - (map.centre + seen) - map.centre_low;
  double r = p - rint(p), low = nufft_fma(s, map.factor, -p) + nufft_fma(s, map.factor_low, s_low * map.factor);
  if (!(fabs(p) < 0x1p40)) {
    const Far far = nufft_locate_far(at, map.centre, map.factor, r, low);
    r = far.r, low = far.p_low, finite = finite && far.finite;
  }
  return static_cast<real>(map.centre + (r + low) / map.factor);
}

extern "C" __global__ void __launch_bounds__(256)
    NUFFT_ENTRY(const Points points, const Maps maps, real* __restrict__ coordinates, Fold* __restrict__ folds,
                count* counts, count* __restrict__ place, unsigned long long* bad) {
  dev_follow();
  constexpr int cells[3] = {NUFFT_N0, NUFFT_N1, NUFFT_N2};
  const long long i = static_cast<long long>(blockIdx.x) * 256 + threadIdx.x;
  real x[NUFFT_DIM];
  if (i < points.m) nufft_read(x, points, i);
  Positions at;
  at.of[2].cell = 0;
  bool finite = true;
#pragma unroll
  for (int d = 0; d < NUFFT_DIM; ++d) {
    const Fold fold = nufft_fold_of(maps.of[d], cells[d]);
    if (i == 0) folds[d] = fold;
    if (i >= points.m) continue;
    if (!(fabs((x[d] - fold.centre) * fold.cells) < static_cast<real>(0x1p30)))
      x[d] = nufft_bring_near(x[d], maps.of[d], finite);
    coordinates[d * points.m + i] = x[d];
    at.of[d] = nufft_fold(x[d], fold, cells[d]);
  }
  if (i >= points.m) return;
  nufft_note(finite, i, bad);
#if NUFFT_SORTED
  place[i] = atomicAdd(counts + nufft_published_bin(at), static_cast<count>(1));
#endif
}
#else
extern "C" __global__ void __launch_bounds__(256)
    NUFFT_ENTRY(const real* __restrict__ coordinates, const Fold* __restrict__ folds, const count* __restrict__ offsets,
                const count* __restrict__ place, count* __restrict__ index, long long m) {
  dev_follow();
  const long long i = static_cast<long long>(blockIdx.x) * 256 + threadIdx.x;
  if (i >= m) return;
  const count bin = nufft_published_bin(nufft_positions(coordinates, folds, m, i));
  index[offsets[bin] + place[i]] = static_cast<count>(i);
}
#endif
