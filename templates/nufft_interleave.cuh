// Between values transform by transform and pieces point by point (nufft_group.cuh). NUFFT_PASS 0: to the pieces, 1: back.
extern "C" __global__ void __launch_bounds__(256)
    NUFFT_ENTRY(Piece* __restrict__ pieces, real2* __restrict__ values, long long m) {
  dev_follow();
  const long long i = static_cast<long long>(blockIdx.x) * 256 + threadIdx.x;
  if (i >= m) return;
#pragma unroll
  for (int k = 0; k < NUFFT_PIECES; ++k) {
#if NUFFT_PASS == 0
    pieces[i * NUFFT_PIECES + k] = nufft_gather_piece(values + i + k * NUFFT_EACH * m, m);
#else
    nufft_scatter_piece(values + i + k * NUFFT_EACH * m, m, pieces[i * NUFFT_PIECES + k]);
#endif
  }
}
