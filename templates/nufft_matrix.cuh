// Products on the matrix units of double precision, and what interpolation does with them.

// c += a b of 16 x 4 by 4 x 8 numbers. Lane l has a[l / 4][l % 4] and that of the row 8 below, b[l % 4][l / 4], and
// c[l / 4][2 (l % 4)] and the next, above and below.
NUFFT_DEVICE void dev_multiply(double* above, double* below, double a0, double a1, double b) {
#if !defined(FOURTUNE_EMULATED) && __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
      : "+d"(above[0]), "+d"(above[1])
      : "d"(a0), "d"(b));
  asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
      : "+d"(below[0]), "+d"(below[1])
      : "d"(a1), "d"(b));
#else
  const int lane = static_cast<int>(threadIdx.x & 31), row = lane / 4 * 4, column = lane % 4 * 8;
  for (int k = 0; k < 4; ++k) {
    const double left = __shfl_sync(0xffffffffu, a0, row + k), low = __shfl_sync(0xffffffffu, a1, row + k);
    const double first = __shfl_sync(0xffffffffu, b, column + k), second = __shfl_sync(0xffffffffu, b, column + 4 + k);
    above[0] = __fma_rn(left, first, above[0]);
    above[1] = __fma_rn(left, second, above[1]);
    below[0] = __fma_rn(low, first, below[0]);
    below[1] = __fma_rn(low, second, below[1]);
  }
#endif
}

// Lanes l and l ^ mask trade: the one with the bit keeps `high`, which gets the other's, and puts it into `low`.
NUFFT_DEVICE void nufft_trade(real2& low, const real2& high, int mask, bool bit) {
  const real2 keep = bit ? high : low, give = bit ? low : high;
  low.x = keep.x + __shfl_xor_sync(0xffffffffu, give.x, mask);
  low.y = keep.y + __shfl_xor_sync(0xffffffffu, give.y, mask);
}

// The weights at window coordinate z, in double precision.
NUFFT_DEVICE void nufft_put_weights(double* to, real z) {
  real v[NUFFT_W];
  nufft_window(z, v);
#pragma unroll
  for (int k = 0; k < NUFFT_W; ++k) to[k] = static_cast<double>(v[k]);
}
