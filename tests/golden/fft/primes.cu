// {X(1,7,1,7,no-tw)}[threads=32,tile=1x8]{Y(1,11,1,11,no-tw)}[threads=32,tile=4]{Z(1,13,1,13,no-tw)}[threads=32,tile=4]:order=natural

// {X(1,7,1,7,no-tw)}[threads=32,tile=1x8]
extern "C" __global__ void __launch_bounds__(32, 1) ft_1f_f32(const real2* __restrict__ in, real2* __restrict__ out) {
  const unsigned t = threadIdx.x;
  dev_follow();
  real x[7], y[7];
  const unsigned tile = blockIdx.x;
  const real2* from = in + (tile % 2 * 56 + tile / 2 * 77);
  if (t < 8) {
    const real2* p = from + (t * 7);
    const unsigned b0 = tile % 2 * 8 + t;
    x[0] = y[0] = 0;
    if (b0 < 11) { const real2 v = p[0]; x[0] = v.x; y[0] = v.y; }
    x[1] = y[1] = 0;
    if (b0 < 11) { const real2 v = p[1]; x[1] = v.x; y[1] = v.y; }
    x[2] = y[2] = 0;
    if (b0 < 11) { const real2 v = p[2]; x[2] = v.x; y[2] = v.y; }
    x[3] = y[3] = 0;
    if (b0 < 11) { const real2 v = p[3]; x[3] = v.x; y[3] = v.y; }
    x[4] = y[4] = 0;
    if (b0 < 11) { const real2 v = p[4]; x[4] = v.x; y[4] = v.y; }
    x[5] = y[5] = 0;
    if (b0 < 11) { const real2 v = p[5]; x[5] = v.x; y[5] = v.y; }
    x[6] = y[6] = 0;
    if (b0 < 11) { const real2 v = p[6]; x[6] = v.x; y[6] = v.y; }
  }
  // ---- round 1 of 1
  if (t < 8) {
    dft7<1>(x + 0, y + 0);
  }
  real2* to = out + (tile % 2 * 56 + tile / 2 * 77);
  if (t < 8) {
    real2* p = to + (t * 7);
    const unsigned b0 = tile % 2 * 8 + t;
    if (b0 < 11) p[0] = ft_make(x[0], y[0]);
    if (b0 < 11) p[1] = ft_make(x[1], y[1]);
    if (b0 < 11) p[2] = ft_make(x[2], y[2]);
    if (b0 < 11) p[3] = ft_make(x[3], y[3]);
    if (b0 < 11) p[4] = ft_make(x[4], y[4]);
    if (b0 < 11) p[5] = ft_make(x[5], y[5]);
    if (b0 < 11) p[6] = ft_make(x[6], y[6]);
  }
}

// {Y(1,11,1,11,no-tw)}[threads=32,tile=4]
extern "C" __global__ void __launch_bounds__(32, 1) ft_2f_f32(const real2* __restrict__ in, real2* __restrict__ out) {
  const unsigned t = threadIdx.x;
  dev_follow();
  real x[11], y[11];
  const unsigned tile = blockIdx.x;
  const real2* from = in + (tile % 2 * 4 + tile / 2 * 77);
  if (t < 4) {
    const real2* p = from + (t);
    const unsigned b0 = tile % 2 * 4 + t;
    x[0] = y[0] = 0;
    if (b0 < 7) { const real2 v = p[0]; x[0] = v.x; y[0] = v.y; }
    x[1] = y[1] = 0;
    if (b0 < 7) { const real2 v = p[7]; x[1] = v.x; y[1] = v.y; }
    x[2] = y[2] = 0;
    if (b0 < 7) { const real2 v = p[14]; x[2] = v.x; y[2] = v.y; }
    x[3] = y[3] = 0;
    if (b0 < 7) { const real2 v = p[21]; x[3] = v.x; y[3] = v.y; }
    x[4] = y[4] = 0;
    if (b0 < 7) { const real2 v = p[28]; x[4] = v.x; y[4] = v.y; }
    x[5] = y[5] = 0;
    if (b0 < 7) { const real2 v = p[35]; x[5] = v.x; y[5] = v.y; }
    x[6] = y[6] = 0;
    if (b0 < 7) { const real2 v = p[42]; x[6] = v.x; y[6] = v.y; }
    x[7] = y[7] = 0;
    if (b0 < 7) { const real2 v = p[49]; x[7] = v.x; y[7] = v.y; }
    x[8] = y[8] = 0;
    if (b0 < 7) { const real2 v = p[56]; x[8] = v.x; y[8] = v.y; }
    x[9] = y[9] = 0;
    if (b0 < 7) { const real2 v = p[63]; x[9] = v.x; y[9] = v.y; }
    x[10] = y[10] = 0;
    if (b0 < 7) { const real2 v = p[70]; x[10] = v.x; y[10] = v.y; }
  }
  // ---- round 1 of 1
  if (t < 4) {
    dft11<1>(x + 0, y + 0);
  }
  real2* to = out + (tile % 2 * 4 + tile / 2 * 77);
  if (t < 4) {
    real2* p = to + (t);
    const unsigned b0 = tile % 2 * 4 + t;
    if (b0 < 7) p[0] = ft_make(x[0], y[0]);
    if (b0 < 7) p[7] = ft_make(x[1], y[1]);
    if (b0 < 7) p[14] = ft_make(x[2], y[2]);
    if (b0 < 7) p[21] = ft_make(x[3], y[3]);
    if (b0 < 7) p[28] = ft_make(x[4], y[4]);
    if (b0 < 7) p[35] = ft_make(x[5], y[5]);
    if (b0 < 7) p[42] = ft_make(x[6], y[6]);
    if (b0 < 7) p[49] = ft_make(x[7], y[7]);
    if (b0 < 7) p[56] = ft_make(x[8], y[8]);
    if (b0 < 7) p[63] = ft_make(x[9], y[9]);
    if (b0 < 7) p[70] = ft_make(x[10], y[10]);
  }
}

// {Z(1,13,1,13,no-tw)}[threads=32,tile=4]
extern "C" __global__ void __launch_bounds__(32, 1) ft_3f_f32(const real2* __restrict__ in, real2* __restrict__ out) {
  const unsigned t = threadIdx.x;
  dev_follow();
  real x[13], y[13];
  const unsigned tile = blockIdx.x;
  const real2* from = in + (tile % 2 * 4 + tile / 2 * 7);
  if (t < 4) {
    const real2* p = from + (t);
    const unsigned b0 = tile % 2 * 4 + t;
    x[0] = y[0] = 0;
    if (b0 < 7) { const real2 v = p[0]; x[0] = v.x; y[0] = v.y; }
    x[1] = y[1] = 0;
    if (b0 < 7) { const real2 v = p[77]; x[1] = v.x; y[1] = v.y; }
    x[2] = y[2] = 0;
    if (b0 < 7) { const real2 v = p[154]; x[2] = v.x; y[2] = v.y; }
    x[3] = y[3] = 0;
    if (b0 < 7) { const real2 v = p[231]; x[3] = v.x; y[3] = v.y; }
    x[4] = y[4] = 0;
    if (b0 < 7) { const real2 v = p[308]; x[4] = v.x; y[4] = v.y; }
    x[5] = y[5] = 0;
    if (b0 < 7) { const real2 v = p[385]; x[5] = v.x; y[5] = v.y; }
    x[6] = y[6] = 0;
    if (b0 < 7) { const real2 v = p[462]; x[6] = v.x; y[6] = v.y; }
    x[7] = y[7] = 0;
    if (b0 < 7) { const real2 v = p[539]; x[7] = v.x; y[7] = v.y; }
    x[8] = y[8] = 0;
    if (b0 < 7) { const real2 v = p[616]; x[8] = v.x; y[8] = v.y; }
    x[9] = y[9] = 0;
    if (b0 < 7) { const real2 v = p[693]; x[9] = v.x; y[9] = v.y; }
    x[10] = y[10] = 0;
    if (b0 < 7) { const real2 v = p[770]; x[10] = v.x; y[10] = v.y; }
    x[11] = y[11] = 0;
    if (b0 < 7) { const real2 v = p[847]; x[11] = v.x; y[11] = v.y; }
    x[12] = y[12] = 0;
    if (b0 < 7) { const real2 v = p[924]; x[12] = v.x; y[12] = v.y; }
  }
  // ---- round 1 of 1
  if (t < 4) {
    dft13<1>(x + 0, y + 0);
  }
  real2* to = out + (tile % 2 * 4 + tile / 2 * 7);
  if (t < 4) {
    real2* p = to + (t);
    const unsigned b0 = tile % 2 * 4 + t;
    if (b0 < 7) p[0] = ft_make(x[0], y[0]);
    if (b0 < 7) p[77] = ft_make(x[1], y[1]);
    if (b0 < 7) p[154] = ft_make(x[2], y[2]);
    if (b0 < 7) p[231] = ft_make(x[3], y[3]);
    if (b0 < 7) p[308] = ft_make(x[4], y[4]);
    if (b0 < 7) p[385] = ft_make(x[5], y[5]);
    if (b0 < 7) p[462] = ft_make(x[6], y[6]);
    if (b0 < 7) p[539] = ft_make(x[7], y[7]);
    if (b0 < 7) p[616] = ft_make(x[8], y[8]);
    if (b0 < 7) p[693] = ft_make(x[9], y[9]);
    if (b0 < 7) p[770] = ft_make(x[10], y[10]);
    if (b0 < 7) p[847] = ft_make(x[11], y[11]);
    if (b0 < 7) p[924] = ft_make(x[12], y[12]);
  }
}
// launch: 26 blocks, first0 second0, 16016 bytes, steps 0 and 0, 20437.54383257936 operations
// launch: 26 blocks, second0 second0, 16016 bytes, steps 0 and 0, 19787.94885860534 operations
// launch: 22 blocks, second0 second0, 16016 bytes, steps 0 and 0, 21166.515187767047 operations
