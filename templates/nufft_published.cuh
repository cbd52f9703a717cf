// What GM, GM-sort and SM share, written from their paper (Shih, Wright, Anden, Blaschke, Barnett: cuFINUFFT, 2021).
// Every kernel reads the caller's coordinates, folds them into the period, and evaluates the exponential of semicircle
// (NUFFT_BETA is its shape). Arithmetic is that of the transform's precision throughout.
#define NUFFT_WZ (NUFFT_DIM > 2 ? NUFFT_W : 1)

// Of one dimension: a coordinate x lies (x - centre) * cells from cell 0, both as sums of two numbers.
struct Fold {
  real centre, centre_low, cells, cells_low;
};

// A position in cells: the cell below it, in the period, and the rest, in [0, 1].
struct Position {
  int cell;
  real rest;
};

// Whole cells are taken off the product before it is rounded: a large grid costs no digits.
NUFFT_DEVICE Position nufft_fold(real x, const Fold& f, int n) {
  const real s = x - f.centre, seen = s - x, low = (x - (s - seen)) - (f.centre + seen) - f.centre_low;
  const real nearest = rint(s * f.cells);
  const real away = nufft_fma(s, f.cells, -nearest) + nufft_fma(s, f.cells_low, low * f.cells);
  const real down = floor(away);
  const int cell = (static_cast<int>(nearest) + static_cast<int>(down)) % n;
  Position at;
  at.cell = cell < 0 ? cell + n : cell;
  at.rest = away - down;
  return at;
}

struct Positions {
  Position of[3];
};
// Of point i; `coordinates` holds m numbers of each dimension.
NUFFT_DEVICE Positions nufft_positions(const real* coordinates, const Fold* folds, long long m, long long i) {
  Positions at;
  at.of[2].cell = 0, at.of[2].rest = 0;
  at.of[0] = nufft_fold(coordinates[i], folds[0], NUFFT_N0);
  at.of[1] = nufft_fold(coordinates[m + i], folds[1], NUFFT_N1);
#if NUFFT_DIM > 2
  at.of[2] = nufft_fold(coordinates[2 * m + i], folds[2], NUFFT_N2);
#endif
  return at;
}

// Bins lie as the cells do, x fastest.
NUFFT_DEVICE count nufft_published_bin(const Positions& at) {
  const count x = static_cast<count>(at.of[0].cell / NUFFT_B0), y = static_cast<count>(at.of[1].cell / NUFFT_B1);
  return (static_cast<count>(at.of[2].cell / NUFFT_B2) * NUFFT_NB1 + y) * NUFFT_NB0 + x;
}

// The window at cell k of a support whose first cell is `from` cells from the point.
NUFFT_DEVICE real nufft_weight(real from, int k) {
  const real z = (from + static_cast<real>(k)) * static_cast<real>(2.0 / NUFFT_W), inside = 1 - z * z;
  return inside >= 0 ? exp(static_cast<real>(NUFFT_BETA) * (sqrt(inside) - 1)) : 0;
}

// First cells of the support, counted from the cells of the positions; how far they are from the point; the weights of x
// and y. Those of z are evaluated plane by plane: in registers all of them would unroll w^3 additions.
struct Support {
  int first[3];
  real from[3], weight[2][NUFFT_W];
};
NUFFT_DEVICE Support nufft_support(const Positions& at) {
  Support s;
  s.first[2] = 0;
#pragma unroll
  for (int d = 0; d < NUFFT_DIM; ++d) {
    const real rest = at.of[d].rest;
    s.first[d] = (rest > (NUFFT_W % 2 != 0 ? static_cast<real>(0.5) : 0) ? 1 : 0) - NUFFT_W / 2;
    s.from[d] = static_cast<real>(s.first[d]) - rest;
    if (d == 2) continue;
#pragma unroll
    for (int k = 0; k < NUFFT_W; ++k) s.weight[d][k] = nufft_weight(s.from[d], k);
  }
  return s;
}
NUFFT_DEVICE real nufft_plane_weight(const Support& s, int a) { return NUFFT_DIM > 2 ? nufft_weight(s.from[2], a) : 1; }
// A cell at most a period away, in the period.
NUFFT_DEVICE int nufft_periodic(int i, int n) { return i < 0 ? i + n : i >= n ? i - n : i; }
