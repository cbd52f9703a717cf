// Where a point lies: its first cell, window coordinate and bin. Constants as in nufft_common.cuh; NUFFT_CHECK: look for
// coordinates that are not finite.

#if !NUFFT_DOUBLE
// nufft_locate for coordinates within 120 turns of the centre, n < 2^19: turns in fixed point, 44 bits behind the point, by
// one addition whose rounding drops whole turns out of the low bits. An error of n 2^-45 cells, and no conversions.
NUFFT_DEVICE bool nufft_locate_near(float x, double centre, double factor, int n, int& cell, float& z) {
  const double turns = nufft_fma(static_cast<double>(x) - centre, factor, 384.0);
  if (!(turns > 264.0 && turns < 504.0)) return false;
  const unsigned long long one = 1ull << 44, odd = NUFFT_W % 2 != 0 ? one / 2 : 0;
  const unsigned long long fraction = static_cast<unsigned long long>(__double_as_longlong(turns)) & (one - 1);
  const unsigned long long u = fraction * static_cast<unsigned long long>(n), up = (u + one - 1 - odd) >> 44;
  const int first = static_cast<int>(up) - NUFFT_W / 2;
  cell = first < 0 ? first + n : first;
  const unsigned rest = static_cast<unsigned>(((up << 44) + odd - u) >> 12);  // of 2^32
  z = static_cast<float>(static_cast<int>(rest - 0x80000000u)) * 0x1p-31f;
  return true;
}
#endif

// First cell of the window and window coordinate of coordinate x. Turns are taken off exactly, products are kept with
// their rounding errors, so that nothing is lost however fine the grid is.
NUFFT_DEVICE bool nufft_locate(real x, double centre, double factor, double factor_low, int n, int& cell, real& z) {
#if !NUFFT_DOUBLE
  if (n < 1 << 19 && nufft_locate_near(x, centre, factor, n, cell, z)) return true;
#endif
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

// Groups of NUFFT_GROUP_BINS bins lie together: the bins of a column along the slide dimension, or single bins. Every
// slice (of NUFFT_SLICE points in the caller's order; 0: all points) has NUFFT_SLICE_BINS bins of its own.
NUFFT_DEVICE count nufft_bin(const int* cell, long long i) {
#if NUFFT_SLICE > 0
  const count slice = static_cast<count>(i) / NUFFT_SLICE * static_cast<count>(NUFFT_SLICE_BINS);
#else
  const count slice = 0;
  (void)i;
#endif
  const count b0 = static_cast<count>(cell[0] / NUFFT_B0), b1 = static_cast<count>(cell[1] / NUFFT_B1);
  const count b2 = static_cast<count>(cell[2] / NUFFT_B2);
#if NUFFT_SLIDE == 2
  return slice + (b1 * NUFFT_NB0 + b0) * NUFFT_NB2 + b2;
#elif NUFFT_SLIDE == 1
  return slice + b0 * NUFFT_NB1 + b1;
#else
  return slice + (b2 * NUFFT_NB1 + b1) * NUFFT_NB0 + b0;
#endif
}
