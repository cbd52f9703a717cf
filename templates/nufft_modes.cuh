// Between modes and a fine grid, for FFTs that cannot do it themselves (the device's library). MODES_PAD: every cell of
// the grid is a mode times its three factors, or zero; else every mode is its cell times its factors. Defined above by
// the generator: real, real2, and the constants MODES_*.

// Position in the grid of mode i of n, or of frequency i - n/2 (MODES_CENTRED).
__device__ inline int modes_cell(int i, int n, int fine) {
#if MODES_CENTRED
  const int k = i - n / 2;
#else
  const int k = i < (n + 1) / 2 ? i : i - n;
#endif
  return k < 0 ? k + fine : k;
}
// Mode at a cell of the grid; -1: none.
__device__ inline int modes_index(int cell, int n, int fine) {
  const int half = (n + 1) / 2;
  int k = -1;  // in FFT order
  if (cell < half) k = cell;
  if (cell >= fine - n / 2) k = cell - fine + n;
#if MODES_CENTRED
  return k < 0 ? -1 : k < half ? k + n / 2 : k - half;
#else
  return k;
#endif
}

extern "C" __global__ void __launch_bounds__(256)
    MODES_ENTRY(const real2* __restrict__ from, real2* __restrict__ to, const real* __restrict__ factors_x,
                const real* __restrict__ factors_y, const real* __restrict__ factors_z) {
  dev_follow();
  const long long cells = static_cast<long long>(MODES_F0) * MODES_F1 * MODES_F2;
  const long long modes = static_cast<long long>(MODES_N0) * MODES_N1 * MODES_N2;
  const long long i = static_cast<long long>(blockIdx.x) * 256 + threadIdx.x;
  real2 value;
#if MODES_PAD
  if (i >= cells) return;
  const int x = modes_index(static_cast<int>(i % MODES_F0), MODES_N0, MODES_F0);
  const int y = modes_index(static_cast<int>(i / MODES_F0 % MODES_F1), MODES_N1, MODES_F1);
  const int z = modes_index(static_cast<int>(i / MODES_F0 / MODES_F1), MODES_N2, MODES_F2);
  value.x = value.y = 0;
  if (x >= 0 && y >= 0 && z >= 0) {
    const real factor = factors_x[x] * factors_y[y] * factors_z[z];
    const real2 mode = from[blockIdx.y * modes + (static_cast<long long>(z) * MODES_N1 + y) * MODES_N0 + x];
    value.x = factor * mode.x;
    value.y = factor * mode.y;
  }
  to[blockIdx.y * cells + i] = value;
#else
  if (i >= modes) return;
  const int x = static_cast<int>(i % MODES_N0), y = static_cast<int>(i / MODES_N0 % MODES_N1);
  const int z = static_cast<int>(i / MODES_N0 / MODES_N1);
  const real factor = factors_x[x] * factors_y[y] * factors_z[z];
  const long long cell =
      (static_cast<long long>(modes_cell(z, MODES_N2, MODES_F2)) * MODES_F1 + modes_cell(y, MODES_N1, MODES_F1)) *
          MODES_F0 +
      modes_cell(x, MODES_N0, MODES_F0);
  const real2 held = from[blockIdx.y * cells + cell];
  value.x = factor * held.x;
  value.y = factor * held.y;
  to[blockIdx.y * modes + i] = value;
#endif
}
