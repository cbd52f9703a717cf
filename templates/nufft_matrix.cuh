// Products on the matrix units of double precision, and what interpolation does with them.

// c += a b of 8 x 4 by 4 x 8 numbers. Lane l has a[l / 4][l % 4], b[l % 4][l / 4] and c[l / 4][2 (l % 4)] and the next.
NUFFT_DEVICE void dev_multiply(double& c0, double& c1, double a, double b) {
#if !defined(FOURTUNE_EMULATED) && __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
      : "+d"(c0), "+d"(c1)
      : "d"(a), "d"(b));
#else
  const int lane = static_cast<int>(threadIdx.x & 31), row = lane / 4 * 4, column = lane % 4 * 8;
  for (int k = 0; k < 4; ++k) {
    const double left = __shfl_sync(0xffffffffu, a, row + k);
    c0 = __fma_rn(left, __shfl_sync(0xffffffffu, b, column + k), c0);
    c1 = __fma_rn(left, __shfl_sync(0xffffffffu, b, column + 4 + k), c1);
  }
#endif
}

// Lanes l and l ^ mask trade: the one with the bit keeps `high`, which gets the other's, and puts it into `low`.
NUFFT_DEVICE void nufft_trade(real2& low, const real2& high, int mask, bool bit) {
  const real2 keep = bit ? high : low, give = bit ? low : high;
  low.x = keep.x + __shfl_xor_sync(0xffffffffu, give.x, mask);
  low.y = keep.y + __shfl_xor_sync(0xffffffffu, give.y, mask);
}
