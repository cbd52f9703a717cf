// Where a point lies: its first cell, window coordinate and bin. Constants as in nufft_common.cuh; NUFFT_CHECK: look for
// coordinates that are not finite.

// Parameters of kernels: the caller's m points, and the maps of their coordinates (Map in codegen/nufft/kernels.h).
struct Points {
  const real *x, *y, *z;
  long long m;
};
struct Map {
  double centre, centre_low, factor, factor_low;
};
struct Maps {
  Map of[3];
#if NUFFT_SLAB
  long long start;  // the slab's first cell along the last dimension, of NUFFT_SLAB
#endif
};
// Cells along the last dimension in which points are located.
#if NUFFT_SLAB
#define NUFFT_LAST NUFFT_SLAB
#elif NUFFT_DIM == 3
#define NUFFT_LAST NUFFT_N2
#elif NUFFT_DIM == 2
#define NUFFT_LAST NUFFT_N1
#else
#define NUFFT_LAST NUFFT_N0
#endif

// What points hardly ever need is called and not copied to every place that may need it: inlined, it was 85 % of the
// machine code of a sort in f64 and more than half of one in f32.
#if defined(FOURTUNE_EMULATED)
#define NUFFT_CALLED inline
#else
#define NUFFT_CALLED __device__ __noinline__
#endif

#if !NUFFT_DOUBLE
// nufft_locate for coordinates within 120 turns of the centre, n < 2^19: turns in fixed point, 44 bits behind the point, by
// one addition whose rounding drops whole turns out of the low bits. An error of n 2^-45 cells, and no conversions.
NUFFT_DEVICE bool nufft_locate_near(float x, double centre, double factor, int n, int& cell, Part& part) {
  const double turns = nufft_fma(static_cast<double>(x) - centre, factor, 384.0);
  if (!(turns > 264.0 && turns < 504.0)) return false;
  const unsigned long long one = 1ull << 44, odd = NUFFT_W % 2 != 0 ? one / 2 : 0;
  const unsigned long long fraction = static_cast<unsigned long long>(__double_as_longlong(turns)) & (one - 1);
  const unsigned long long u = fraction * static_cast<unsigned long long>(n), up = (u + one - 1 - odd) >> 44;
  const int first = static_cast<int>(up) - NUFFT_W / 2;
  cell = first < 0 ? first + n : first;
  part = static_cast<unsigned>(((up << 44) + odd - u) >> (44 - NUFFT_FRACTION));
  return true;
}
#endif

// A share of a cell, 0 to 1, in units: cut, and 1 itself is the last of them.
NUFFT_DEVICE Part nufft_part(double share) {
  const double v = fmin(share, 0x1.ffffffffffffep-1) + 1;
  const unsigned long long bits = static_cast<unsigned long long>(__double_as_longlong(v));
  return static_cast<Part>((bits & 0xfffffffffffffull) >> (52 - NUFFT_FRACTION));
}

// Binary digits 64 word to 64 word + 63 of 1 / (2 pi) behind its point: as many as the largest coordinate asks for.
NUFFT_DEVICE unsigned long long nufft_turn_digits(int word) {
  switch (word) {
    // clang-format off
    case 0: return 0x28be60db9391054aull;
    case 1: return 0x7f09d5f47d4d3770ull;
    case 2: return 0x36d8a5664f10e410ull;
    case 3: return 0x7f9458eaf7aef158ull;
    case 4: return 0x6dc91b8e909374b8ull;
#if NUFFT_DOUBLE
    case 5: return 0x01924bba82746487ull;
    case 6: return 0x3f877ac72c4a69cfull;
    case 7: return 0xba208d7d4baed121ull;
    case 8: return 0x3a671c09ad17df90ull;
    case 9: return 0x4e64758e60d4ce7dull;
    case 10: return 0x272117e2ef7e4a0eull;
    case 11: return 0xc7fe25fff7816603ull;
    case 12: return 0xfbcbc462d6829b47ull;
    case 13: return 0xdb4d9fb3c9f2c26dull;
    case 14: return 0xd3d18fd9a797fa8bull;
    case 15: return 0x5d49eeb1faf97c5eull;
    case 16: return 0xcf41ce7de294a4baull;
    case 17: return 0x9afed7ec47e35742ull;
    case 18: return 0x1580cc11bf1edaeaull;
#endif
    default: return 0;
      // clang-format on
  }
}

// x / (2 pi) less whole turns, as r + p_low in [-1/2, 1/2], for 2^42 <= |x| < infinity: x is M 2^e, and digits whose
// products with it are whole turns are left out (Payne and Hanek's reduction).
NUFFT_DEVICE void nufft_fold(double x, double& r, double& p_low) {
  const unsigned long long bits = static_cast<unsigned long long>(__double_as_longlong(x));
  const unsigned long long m = (bits & 0xfffffffffffffull) | 1ull << 52;
  const int at = (static_cast<int>(bits >> 52) & 2047) - 1075 + 64;  // the first digit, and a word of zeros before all
  const int word = at / 64 - 1, shift = at % 64;
  unsigned long long digits[3] = {0, 0, 0}, here = 0;
#pragma unroll 1  // one copy of the digits, whose words enter at the end
  for (int i = 0; i < 4; ++i) {
    const unsigned long long next = nufft_turn_digits(word + i);
    digits[0] = digits[1], digits[1] = digits[2];
    digits[2] = shift == 0 ? here : here << shift | next >> (64 - shift);
    here = next;
  }
  const unsigned long long carry = __umul64hi(m, digits[2]), low = m * digits[1] + carry;
  const unsigned long long high = m * digits[0] + __umul64hi(m, digits[1]) + (low < carry ? 1 : 0);
  r = static_cast<double>(static_cast<long long>(high) >> 11) * 0x1p-53;
  p_low = static_cast<double>((high & 2047) << 53 | low >> 11) * 0x1p-117;
  if (x < 0) r = -r, p_low = -p_low;
}

// What is left of a coordinate of very many turns, r + p_low, whose product's rounding error p_low is turns itself; or of
// one that is not finite, which is put at the centre. So every point stays inside the grid.
struct Far {
  double r, p_low;
  bool finite;
};
NUFFT_CALLED Far nufft_locate_far(double x, double centre, double factor, double r, double p_low) {
  Far far;
  const bool half = centre == -0x1.921fb54442d18p1;  // the grid begins at -pi
  if ((centre == 0 || half) && factor == 0x1.45f306dc9c883p-3 && fabs(x) <= 0x1.fffffffffffffp1023) {  // radians
    nufft_fold(x, far.r, far.p_low);
    if (half) {
      const double on = far.r < 0 ? 0.5 : -0.5, sum = far.r + on;
      far.p_low += far.r - (sum - on);  // what the sum has lost
      far.r = sum;
    }
    far.finite = true;
    return far;
  }
  const double turns = r + (p_low - rint(p_low));
  far.finite = turns * 0 == 0;
  far.r = far.finite ? turns - rint(turns) : 0;
  far.p_low = 0;
  return far;
}

// First cell of the window and place in it of coordinate x. Turns are taken off exactly, products are kept with
// their rounding errors, so that nothing is lost however fine the grid is.
NUFFT_DEVICE bool nufft_locate_exact(real x, const Map& map, int n, int& cell, Part& part) {
  const double centre = map.centre, factor = map.factor;
  const double at = static_cast<double>(x), fine = n;
  const double s = at - centre, p = s * factor;
  const double seen = s - at, s_low = (at - (s - seen)) - (centre + seen) - map.centre_low;
  double p_low = 0;  // of f32 within a hundred turns below 2^-47 of one
  if (NUFFT_DOUBLE || fabs(p) >= 0x1p7) p_low = nufft_fma(s, factor, -p) + nufft_fma(s, map.factor_low, s_low * factor);
  double r = p - rint(p);
  bool finite = true;
  if (!(fabs(p) < 0x1p40)) {
    const Far far = nufft_locate_far(at, centre, factor, r, p_low);
    r = far.r, p_low = far.p_low, finite = far.finite;
  }
  const double q = r * fine, nearest = rint(q);
  const double rest = (q - nearest) + nufft_fma(p_low, fine, nufft_fma(r, fine, -q));
  const double t = rest - (NUFFT_W % 2 != 0 ? 0.5 : 0.0), up = ceil(t);
  const int first = static_cast<int>(nearest) - NUFFT_W / 2 + static_cast<int>(up);
  cell = first < 0 ? first + n : first;
  part = nufft_part(up - t);
  return finite;
}

// The same by a call, for points that hardly ever need it.
struct Found {
  int cell;
  Part part;
  bool finite;
};
NUFFT_CALLED Found nufft_find(real x, double centre, double centre_low, double factor, double factor_low, int n) {
  const Map map = {centre, centre_low, factor, factor_low};
  Found found;
  found.finite = nufft_locate_exact(x, map, n, found.cell, found.part);
  return found;
}
NUFFT_DEVICE bool nufft_locate_rare(real x, const Map& map, int n, int& cell, Part& part) {
  const Found found = nufft_find(x, map.centre, map.centre_low, map.factor, map.factor_low, n);
  cell = found.cell, part = found.part;
  return found.finite;
}

// In f32 nearly every point is near.
NUFFT_DEVICE bool nufft_locate(real x, const Map& map, int n, int& cell, Part& part) {
#if !NUFFT_DOUBLE
  if (n < 1 << 19)
    return nufft_locate_near(x, map.centre, map.factor, n, cell, part) || nufft_locate_rare(x, map, n, cell, part);
#endif
  return nufft_locate_exact(x, map, n, cell, part);
}

// Of point i, whether its coordinates are finite.
NUFFT_DEVICE void nufft_note(bool finite, long long i, unsigned long long* bad) {
  if (!NUFFT_CHECK || finite) return;
  dev_wait_earlier();  // for the word, which is cleared
  atomicMin(bad, static_cast<unsigned long long>(i));
}

#define NUFFT_PERIOD0 (NUFFT_DIM == 1 ? NUFFT_LAST : NUFFT_N0)
#define NUFFT_PERIOD1 (NUFFT_DIM == 2 ? NUFFT_LAST : NUFFT_N1)

// From a cell of the whole grid to one of the slab, which has all cells that windows of its points reach.
NUFFT_DEVICE void nufft_enter_slab(Placed& p, const Maps& maps) {
#if NUFFT_SLAB
  constexpr int cells = NUFFT_DIM == 3 ? NUFFT_N2 : NUFFT_N1;
  const int cell = p.cell[NUFFT_DIM - 1] - static_cast<int>(maps.start);
  p.cell[NUFFT_DIM - 1] = min(cell < 0 ? cell + NUFFT_SLAB : cell, cells - NUFFT_W);  // no point writes outside
#else
  (void)p, (void)maps;
#endif
}

// The point with these coordinates; the first index of one that is not finite goes to *bad.
NUFFT_DEVICE Placed nufft_place(const real* x, long long i, const Maps& maps, unsigned long long* bad) {
  Placed p;
  p.part[1] = p.part[2] = 0;
  p.cell[1] = p.cell[2] = 0;
  bool finite = nufft_locate(x[0], maps.of[0], NUFFT_PERIOD0, p.cell[0], p.part[0]);
#if NUFFT_DIM > 1
  finite = nufft_locate(x[1], maps.of[1], NUFFT_PERIOD1, p.cell[1], p.part[1]) && finite;
#endif
#if NUFFT_DIM > 2
  finite = nufft_locate(x[2], maps.of[2], NUFFT_LAST, p.cell[2], p.part[2]) && finite;
#endif
  nufft_note(finite, i, bad);
  nufft_enter_slab(p, maps);
  return p;
}

// Coordinates of point i, and the point.
NUFFT_DEVICE void nufft_read(real* to, const Points& points, long long i) {
  to[0] = __ldg(points.x + i);
#if NUFFT_DIM > 1
  to[1] = __ldg(points.y + i);
#endif
#if NUFFT_DIM > 2
  to[2] = __ldg(points.z + i);
#endif
}
NUFFT_DEVICE Placed nufft_point(const Points& points, long long i, const Maps& maps, unsigned long long* bad) {
  real at[NUFFT_DIM];
  nufft_read(at, points, i);
  return nufft_place(at, i, maps, bad);
}

#if NUFFT_DOUBLE
// The first cell as nufft_locate finds it, for a coordinate within 1024 turns, n < 2^20 and a place more than 2^-20 cells
// away from where cells begin: what is left out here moves a place by less than 2^-21 cells. False: nothing is said.
NUFFT_DEVICE bool nufft_cell_near(double x, const Map& map, int n, int& cell) {
  const double p = (x - map.centre) * map.factor, at = (p - rint(p)) * n - (NUFFT_W % 2 != 0 ? 0.5 : 0.0);
  const double up = ceil(at), above = up - at;
  const bool near = n < 1 << 20 && fabs(p) < 1024 && above > 0x1p-20 && above < 1 - 0x1p-20;
  const int first = (near ? static_cast<int>(up) : 0) - NUFFT_W / 2;
  cell = first < 0 ? first + n : first;
  return near;
}
#endif

// The first cells alone, the same as nufft_place finds.
NUFFT_DEVICE Placed nufft_cells(const real* x, long long i, const Maps& maps, unsigned long long* bad) {
#if NUFFT_DOUBLE
  Placed p;
  p.part[0] = p.part[1] = p.part[2] = 0;
  p.cell[1] = p.cell[2] = 0;
  bool near = nufft_cell_near(x[0], maps.of[0], NUFFT_PERIOD0, p.cell[0]);
#if NUFFT_DIM > 1
  near = nufft_cell_near(x[1], maps.of[1], NUFFT_PERIOD1, p.cell[1]) && near;
#endif
#if NUFFT_DIM > 2
  near = nufft_cell_near(x[2], maps.of[2], NUFFT_LAST, p.cell[2]) && near;
#endif
  if (near) {
    nufft_enter_slab(p, maps);
    return p;
  }
  bool finite = nufft_locate_rare(x[0], maps.of[0], NUFFT_PERIOD0, p.cell[0], p.part[0]);
#if NUFFT_DIM > 1
  finite = nufft_locate_rare(x[1], maps.of[1], NUFFT_PERIOD1, p.cell[1], p.part[1]) && finite;
#endif
#if NUFFT_DIM > 2
  finite = nufft_locate_rare(x[2], maps.of[2], NUFFT_LAST, p.cell[2], p.part[2]) && finite;
#endif
  nufft_note(finite, i, bad);
  nufft_enter_slab(p, maps);
  return p;
#else
  return nufft_place(x, i, maps, bad);
#endif
}

// Groups of NUFFT_GROUP_BINS bins lie together: the bins of a column along the slide dimension, or single bins. Every
// slice (of NUFFT_SLICE points in the caller's order; 0: all points) has NUFFT_SLICE_BINS bins to itself.
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

// The record of a point on its own.
NUFFT_DEVICE Record nufft_record(const Placed& p) {
  return nufft_pack(p, nufft_bin(p.cell, 0) % static_cast<count>(NUFFT_GROUP_BINS));
}

// The place of this thread's point in its bin. A warp's points of one bin count there at once: one word takes additions
// one after the other, and points of a cluster are all in a few bins. Called by all threads of a warp; valid: it has a
// point.
template <class T>
NUFFT_DEVICE T nufft_take_place(T* counters, T bin, bool valid) {
  const unsigned alike = __match_any_sync(0xffffffffu, valid ? bin : ~T(0));
  const unsigned below = alike & ((1u << (threadIdx.x & 31)) - 1);
  T first = 0;
  if (valid && below == 0) first = atomicAdd(counters + bin, static_cast<T>(__popc(alike)));
  return __shfl_sync(0xffffffffu, first, __ffs(static_cast<int>(alike)) - 1) + static_cast<T>(__popc(below));
}
