// Spreading straight to the grid by global reductions, in sorted or in the caller's order. 32 lanes evaluate the
// weights of 32 points into shared memory; then NUFFT_LANES lanes serve one point, a lane per x cell, so that the w
// cells of a row go out together. NUFFT_LANES == 1: one thread per point, as published. NUFFT_RUN == 2 (single
// precision, not 1D, even rows): a lane per aligned pair of x cells, added by one 16-byte reduction; the weights of x
// are staged with a zero in front when the first cell is odd.
#define NUFFT_AT_X (NUFFT_RUN == 2 ? (NUFFT_W + 2) / 2 * 2 : NUFFT_W)  // numbers of x

extern "C" __global__ void __launch_bounds__(32 * NUFFT_WARPS)
    NUFFT_ENTRY(const Record* __restrict__ records, const count* __restrict__ index,
                const real2* __restrict__ strengths, Cell* __restrict__ grid, long long m,
                const Distances distances NUFFT_BOUNDS) {
  NUFFT_SHARED(real, shared);
#if NUFFT_FIXED
  dev_wait_earlier();  // for the bounds
  const double scale = nufft_fixed_scale(bounds, distances.values);
#endif
  const auto to_grid = [&](Cell* at, real weight, real2 value) {
#if NUFFT_FIXED
    Cell sum = nufft_none();
    nufft_sum(sum, weight, value, scale);
    dev_add(at, sum);
#else
    dev_add(at, nufft_scaled(weight, value));
#endif
  };
  strengths += blockIdx.y * distances.values;
  grid += blockIdx.y * distances.grid;
  const int lane = static_cast<int>(threadIdx.x & 31);
  // Of this warp: weights by [number][point], then first cells.
  real* stage = shared + (threadIdx.x >> 5) * NUFFT_STAGE_WARP;
  int* cells = reinterpret_cast<int*>(stage + NUFFT_NUMBERS * 33);
  const long long first = (static_cast<long long>(blockIdx.x) * NUFFT_WARPS + (threadIdx.x >> 5)) * 32;
  if (first >= m) return dev_wait_earlier();
  const int n = m - first < 32 ? static_cast<int>(m - first) : 32;
  if (lane < n) {
    const Located p = nufft_unpack(nufft_load(records, static_cast<count>(first) + lane), 0, 0, 0);
    const real2 c = __ldg(strengths + __ldg(index + first + lane));
    real v[NUFFT_W];
#pragma unroll
    for (int d = 0; d < NUFFT_DIM; ++d) {
      nufft_window(p.z[d], v);
      const int at = d == 0 ? 0 : NUFFT_AT_X + (d - 1) * NUFFT_W;
#if NUFFT_RUN == 2
      const int shift = d == 0 ? p.cell[0] & 1 : 0;
      if (d == 0) stage[lane] = 0;
      if (d == 0) stage[(NUFFT_AT_X - 1) * 33 + lane] = 0;
      if (d == 0 && NUFFT_AT_X > NUFFT_W + 1) stage[(NUFFT_AT_X - 2) * 33 + lane] = 0;
#else
      const int shift = 0;
#endif
#pragma unroll
      for (int k = 0; k < NUFFT_W; ++k) {
        if (d == NUFFT_DIM - 1) {
          stage[(at + 2 * k) * 33 + lane] = v[k] * c.x;
          stage[(at + 2 * k + 1) * 33 + lane] = v[k] * c.y;
        } else {
          stage[(at + k + shift) * 33 + lane] = v[k];
        }
      }
      cells[d * 32 + lane] = p.cell[d];
    }
  }
  dev_wait_earlier();  // for the clear grid
  __syncwarp();
  const int member = lane % NUFFT_LANES;
  for (int j = lane / NUFFT_LANES; j < n; j += 32 / NUFFT_LANES) {
    const real* from = stage + j;
    const int x0 = cells[j];
#if NUFFT_DIM == 1
    for (int k = member; k < NUFFT_W; k += NUFFT_LANES)
      to_grid(grid + nufft_wrap(x0 + k, NUFFT_N0), 1, nufft_make(from[2 * k * 33], from[(2 * k + 1) * 33]));
#else
    // Rows: all but the last dimension's weights are products, the last carries the strength.
    const int y0 = cells[32 + j], z0 = NUFFT_DIM == 3 ? cells[64 + j] : 0;
#if NUFFT_RUN == 2
    const int odd = x0 & 1, items = (NUFFT_W + odd + 1) / 2;
#else
    const int odd = 0, items = NUFFT_W;
#endif
    for (int k = member; k < items; k += NUFFT_LANES) {
      const real wx = from[k * NUFFT_RUN * 33];
#if NUFFT_RUN == 2
      const real next = from[(2 * k + 1) * 33];
#endif
      Cell* column = grid + nufft_wrap(x0 - odd + k * NUFFT_RUN, NUFFT_N0);
      const auto add = [&](Cell* at, real wy, real2 value) {
#if NUFFT_RUN == 2
        dev_add_pair(at, nufft_scaled(wx * wy, value), nufft_scaled(next * wy, value));
#else
        to_grid(at, wx * wy, value);
#endif
      };
      for (int b = 0; b < NUFFT_W; ++b) {
        Cell* row = column + static_cast<long long>(nufft_wrap(y0 + b, NUFFT_N1)) * NUFFT_N0;
        const real* last = from + (NUFFT_AT_X + (NUFFT_DIM - 2) * NUFFT_W) * 33;
#if NUFFT_DIM == 2
        add(row, 1, nufft_make(last[2 * b * 33], last[(2 * b + 1) * 33]));
#else
        const real wy = from[(NUFFT_AT_X + b) * 33];
#pragma unroll
        for (int a = 0; a < NUFFT_W; ++a)
          add(row + static_cast<long long>(nufft_wrap(z0 + a, NUFFT_N2)) * NUFFT_PLANE_CELLS, wy,
              nufft_make(last[2 * a * 33], last[(2 * a + 1) * 33]));
#endif
      }
    }
#endif
  }
}
