// {X(4,8,4,32,tw),X(8,4,1,4,no-tw),Y(4,4,4,16,tw)}[threads=32,tile=1,to=work]{Y(4,4,1,4,no-tw),Z(2,8,2,16,tw),Z(8,2,1,2,no-tw)}[threads=32,tile=8,parts=apart]:order=natural

// {X(4,8,4,32,tw),X(8,4,1,4,no-tw),Y(4,4,4,16,tw)}[threads=32,tile=1,to=work]
extern "C" __global__ void __launch_bounds__(32, 1) ft_1f_f32(const real2* __restrict__ in, real2* __restrict__ out, const real2* __restrict__ turns0) {
  const unsigned t = threadIdx.x;
  dev_follow();
  FT_SHARED(real2, shared);
  real x[8], y[8];
  const unsigned tile = blockIdx.x;
  const real2* from = in + (tile % 4 * 32 + tile / 4 * 512);
  if (t < 16) {
    const real2* p = from + (t % 4 + t / 4 * 128);
    { const real2 v = p[0]; x[0] = v.x; y[0] = v.y; }
    { const real2 v = p[4]; x[1] = v.x; y[1] = v.y; }
    { const real2 v = p[8]; x[2] = v.x; y[2] = v.y; }
    { const real2 v = p[12]; x[3] = v.x; y[3] = v.y; }
    { const real2 v = p[16]; x[4] = v.x; y[4] = v.y; }
    { const real2 v = p[20]; x[5] = v.x; y[5] = v.y; }
    { const real2 v = p[24]; x[6] = v.x; y[6] = v.y; }
    { const real2 v = p[28]; x[7] = v.x; y[7] = v.y; }
  }
  // ---- round 1 of 3
  if (t < 16) {
    dft8<1>(x + 0, y + 0);
    {
      const unsigned m = t % 4;
      const real2 w1 = turns0[m];
      ft_turn(x[1], y[1], w1);
      const real2 w2 = ft_square(w1);
      ft_turn(x[2], y[2], w2);
      const real2 w3 = ft_times(w2, w1);
      ft_turn(x[3], y[3], w3);
      const real2 w4 = ft_square(w2);
      ft_turn(x[4], y[4], w4);
      const real2 w5 = ft_times(w4, w1);
      ft_turn(x[5], y[5], w5);
      const real2 w6 = ft_square(w3);
      ft_turn(x[6], y[6], w6);
      const real2 w7 = ft_times(w6, w1);
      ft_turn(x[7], y[7], w7);
    }
  }
  if (t < 16) {
    real2* p = shared + (t % 4 * 52 + t / 4);
    p[0] = ft_make(x[0], y[0]);
    p[6] = ft_make(x[1], y[1]);
    p[12] = ft_make(x[2], y[2]);
    p[18] = ft_make(x[3], y[3]);
    p[24] = ft_make(x[4], y[4]);
    p[30] = ft_make(x[5], y[5]);
    p[36] = ft_make(x[6], y[6]);
    p[42] = ft_make(x[7], y[7]);
  }
  __syncthreads();
  {
    const real2* p = shared + (t % 8 * 6 + t / 8);
    { const real2 v = p[0]; x[0] = v.x; y[0] = v.y; }
    { const real2 v = p[52]; x[1] = v.x; y[1] = v.y; }
    { const real2 v = p[104]; x[2] = v.x; y[2] = v.y; }
    { const real2 v = p[156]; x[3] = v.x; y[3] = v.y; }
  }
  // ---- round 2 of 3
  {
    dft4<1>(x + 0, y + 0);
  }
  __syncthreads();
  {
    real2* p = shared + (t);
    p[0] = ft_make(x[0], y[0]);
    p[40] = ft_make(x[1], y[1]);
    p[80] = ft_make(x[2], y[2]);
    p[120] = ft_make(x[3], y[3]);
  }
  __syncwarp();
  {
    const real2* p = shared + (t % 8 + t / 8 * 40);
    { const real2 v = p[0]; x[0] = v.x; y[0] = v.y; }
    { const real2 v = p[8]; x[1] = v.x; y[1] = v.y; }
    { const real2 v = p[16]; x[2] = v.x; y[2] = v.y; }
    { const real2 v = p[24]; x[3] = v.x; y[3] = v.y; }
  }
  // ---- round 3 of 3
  {
    dft4<1>(x + 0, y + 0);
    {
      const unsigned m = tile % 4;
      const real2 w1 = turns0[m * 2];
      ft_turn(x[1], y[1], w1);
      const real2 w2 = ft_square(w1);
      ft_turn(x[2], y[2], w2);
      const real2 w3 = ft_times(w2, w1);
      ft_turn(x[3], y[3], w3);
    }
  }
  real2* to = out + (tile % 4 * 32 + tile / 4 * 512);
  {
    real2* p = to + (t);
    p[0] = ft_make(x[0], y[0]);
    p[128] = ft_make(x[1], y[1]);
    p[256] = ft_make(x[2], y[2]);
    p[384] = ft_make(x[3], y[3]);
  }
}

// {Y(4,4,1,4,no-tw),Z(2,8,2,16,tw),Z(8,2,1,2,no-tw)}[threads=32,tile=8,parts=apart]
extern "C" __global__ void __launch_bounds__(32, 1) ft_2f_f32(const real2* __restrict__ in, real2* __restrict__ out, const real2* __restrict__ turns0) {
  const unsigned t = threadIdx.x;
  dev_follow();
  FT_SHARED(real, shared);
  real x[16], y[16];
  const unsigned tile = blockIdx.x;
  const real2* from = in + (tile % 4 * 8 + tile / 4 * 128);
  {
    const real2* p = from + (t % 8 + t / 8 * 512);
    { const real2 v = p[0]; x[0] = v.x; y[0] = v.y; }
    { const real2 v = p[32]; x[1] = v.x; y[1] = v.y; }
    { const real2 v = p[64]; x[2] = v.x; y[2] = v.y; }
    { const real2 v = p[96]; x[3] = v.x; y[3] = v.y; }
    { const real2 v = p[4096]; x[4] = v.x; y[4] = v.y; }
    { const real2 v = p[4128]; x[5] = v.x; y[5] = v.y; }
    { const real2 v = p[4160]; x[6] = v.x; y[6] = v.y; }
    { const real2 v = p[4192]; x[7] = v.x; y[7] = v.y; }
    { const real2 v = p[2048]; x[8] = v.x; y[8] = v.y; }
    { const real2 v = p[2080]; x[9] = v.x; y[9] = v.y; }
    { const real2 v = p[2112]; x[10] = v.x; y[10] = v.y; }
    { const real2 v = p[2144]; x[11] = v.x; y[11] = v.y; }
    { const real2 v = p[6144]; x[12] = v.x; y[12] = v.y; }
    { const real2 v = p[6176]; x[13] = v.x; y[13] = v.y; }
    { const real2 v = p[6208]; x[14] = v.x; y[14] = v.y; }
    { const real2 v = p[6240]; x[15] = v.x; y[15] = v.y; }
  }
  // ---- round 1 of 2
  {
    dft4<1>(x + 0, y + 0);
    dft4<1>(x + 4, y + 4);
    dft4<1>(x + 8, y + 8);
    dft4<1>(x + 12, y + 12);
  }
  {
    real* p = shared + (t);
    p[0] = x[0];
    p[40] = x[1];
    p[80] = x[2];
    p[120] = x[3];
    p[160] = x[4];
    p[200] = x[5];
    p[240] = x[6];
    p[280] = x[7];
    p[320] = x[8];
    p[360] = x[9];
    p[400] = x[10];
    p[440] = x[11];
    p[480] = x[12];
    p[520] = x[13];
    p[560] = x[14];
    p[600] = x[15];
  }
  __syncwarp();
  {
    const real* p = shared + (t % 8 + t / 8 * 40);
    x[0] = p[0];
    x[1] = p[16];
    x[2] = p[320];
    x[3] = p[336];
    x[4] = p[160];
    x[5] = p[176];
    x[6] = p[480];
    x[7] = p[496];
    x[8] = p[8];
    x[9] = p[24];
    x[10] = p[328];
    x[11] = p[344];
    x[12] = p[168];
    x[13] = p[184];
    x[14] = p[488];
    x[15] = p[504];
  }
  __syncwarp();
  {
    real* p = shared + (t);
    p[0] = y[0];
    p[40] = y[1];
    p[80] = y[2];
    p[120] = y[3];
    p[160] = y[4];
    p[200] = y[5];
    p[240] = y[6];
    p[280] = y[7];
    p[320] = y[8];
    p[360] = y[9];
    p[400] = y[10];
    p[440] = y[11];
    p[480] = y[12];
    p[520] = y[13];
    p[560] = y[14];
    p[600] = y[15];
  }
  __syncwarp();
  {
    const real* p = shared + (t % 8 + t / 8 * 40);
    y[0] = p[0];
    y[1] = p[16];
    y[2] = p[320];
    y[3] = p[336];
    y[4] = p[160];
    y[5] = p[176];
    y[6] = p[480];
    y[7] = p[496];
    y[8] = p[8];
    y[9] = p[24];
    y[10] = p[328];
    y[11] = p[344];
    y[12] = p[168];
    y[13] = p[184];
    y[14] = p[488];
    y[15] = p[504];
  }
  // ---- round 2 of 2
  {
    dft8<1>(x + 0, y + 0);
    dft8<1>(x + 8, y + 8);
    {
      const unsigned m = 1;
      const real2 w1 = turns0[m];
      ft_turn(x[9], y[9], w1);
      const real2 w2 = ft_square(w1);
      ft_turn(x[10], y[10], w2);
      const real2 w3 = ft_times(w2, w1);
      ft_turn(x[11], y[11], w3);
      const real2 w4 = ft_square(w2);
      ft_turn(x[12], y[12], w4);
      const real2 w5 = ft_times(w4, w1);
      ft_turn(x[13], y[13], w5);
      const real2 w6 = ft_square(w3);
      ft_turn(x[14], y[14], w6);
      const real2 w7 = ft_times(w6, w1);
      ft_turn(x[15], y[15], w7);
    }
    dft2<8>(x + 0, y + 0);
    dft2<8>(x + 1, y + 1);
    dft2<8>(x + 2, y + 2);
    dft2<8>(x + 3, y + 3);
    dft2<8>(x + 4, y + 4);
    dft2<8>(x + 5, y + 5);
    dft2<8>(x + 6, y + 6);
    dft2<8>(x + 7, y + 7);
  }
  real2* to = out + (tile * 8);
  {
    real2* p = to + (t % 8 + t / 8 * 128);
    p[0] = ft_make(x[0], y[0]);
    p[512] = ft_make(x[1], y[1]);
    p[1024] = ft_make(x[2], y[2]);
    p[1536] = ft_make(x[3], y[3]);
    p[2048] = ft_make(x[4], y[4]);
    p[2560] = ft_make(x[5], y[5]);
    p[3072] = ft_make(x[6], y[6]);
    p[3584] = ft_make(x[7], y[7]);
    p[4096] = ft_make(x[8], y[8]);
    p[4608] = ft_make(x[9], y[9]);
    p[5120] = ft_make(x[10], y[10]);
    p[5632] = ft_make(x[11], y[11]);
    p[6144] = ft_make(x[12], y[12]);
    p[6656] = ft_make(x[13], y[13]);
    p[7168] = ft_make(x[14], y[14]);
    p[7680] = ft_make(x[15], y[15]);
  }
}
// launch: 64 blocks, first0 work0 constant0, 131072 bytes, steps 0 and 0, 286720 operations
// launch: 16 blocks, work0 second0 constant1, 131072 bytes, steps 0 and 64, 245760 operations
