// {X(4,8,4,32,tw),X(8,4,1,4,no-tw)}[threads=32,tile=1x8]{Y(4,8,4,32,tw),Y(8,4,1,4,no-tw)}[threads=64,tile=16]{Z(1,16,1,16,no-tw)}[threads=32,tile=16]:order=natural,place=in

// {X(4,8,4,32,tw),X(8,4,1,4,no-tw)}[threads=32,tile=1x8]
extern "C" __global__ void __launch_bounds__(32, 1) ft_1f_f32(const real2* __restrict__ in, real2* __restrict__ out, const real2* __restrict__ turns0) {
  const unsigned t = threadIdx.x;
  dev_follow();
  FT_SHARED(real2, shared);
  real x[8], y[8];
  const unsigned tile = blockIdx.x;
  const real2* from = in + (tile * 256);
  {
    const real2* p = from + (t % 4 + t / 4 * 32);
    { const real2 v = p[0]; x[0] = v.x; y[0] = v.y; }
    { const real2 v = p[4]; x[1] = v.x; y[1] = v.y; }
    { const real2 v = p[8]; x[2] = v.x; y[2] = v.y; }
    { const real2 v = p[12]; x[3] = v.x; y[3] = v.y; }
    { const real2 v = p[16]; x[4] = v.x; y[4] = v.y; }
    { const real2 v = p[20]; x[5] = v.x; y[5] = v.y; }
    { const real2 v = p[24]; x[6] = v.x; y[6] = v.y; }
    { const real2 v = p[28]; x[7] = v.x; y[7] = v.y; }
  }
  // ---- round 1 of 2
  {
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
  {
    real2* p = shared + (t % 4 * 52 + t / 4 % 4 + t / 16 * 208);
    p[0] = ft_make(x[0], y[0]);
    p[6] = ft_make(x[1], y[1]);
    p[12] = ft_make(x[2], y[2]);
    p[18] = ft_make(x[3], y[3]);
    p[24] = ft_make(x[4], y[4]);
    p[30] = ft_make(x[5], y[5]);
    p[36] = ft_make(x[6], y[6]);
    p[42] = ft_make(x[7], y[7]);
  }
  __syncwarp();
  {
    const real2* p = shared + (t % 8 * 6 + t / 8);
    { const real2 v = p[0]; x[0] = v.x; y[0] = v.y; }
    { const real2 v = p[52]; x[1] = v.x; y[1] = v.y; }
    { const real2 v = p[104]; x[2] = v.x; y[2] = v.y; }
    { const real2 v = p[156]; x[3] = v.x; y[3] = v.y; }
    { const real2 v = p[208]; x[4] = v.x; y[4] = v.y; }
    { const real2 v = p[260]; x[5] = v.x; y[5] = v.y; }
    { const real2 v = p[312]; x[6] = v.x; y[6] = v.y; }
    { const real2 v = p[364]; x[7] = v.x; y[7] = v.y; }
  }
  // ---- round 2 of 2
  {
    dft4<1>(x + 0, y + 0);
    dft4<1>(x + 4, y + 4);
  }
  real2* to = out + (tile * 256);
  {
    real2* p = to + (t % 8 + t / 8 * 32);
    p[0] = ft_make(x[0], y[0]);
    p[8] = ft_make(x[1], y[1]);
    p[16] = ft_make(x[2], y[2]);
    p[24] = ft_make(x[3], y[3]);
    p[128] = ft_make(x[4], y[4]);
    p[136] = ft_make(x[5], y[5]);
    p[144] = ft_make(x[6], y[6]);
    p[152] = ft_make(x[7], y[7]);
  }
}

// {Y(4,8,4,32,tw),Y(8,4,1,4,no-tw)}[threads=64,tile=16]
extern "C" __global__ void __launch_bounds__(64, 1) ft_2f_f32(const real2* __restrict__ in, real2* __restrict__ out, const real2* __restrict__ turns0) {
  const unsigned t = threadIdx.x;
  dev_follow();
  FT_SHARED(real2, shared);
  real x[8], y[8];
  const unsigned tile = blockIdx.x;
  const real2* from = in + (tile % 2 * 16 + tile / 2 * 1024);
  {
    const real2* p = from + (t % 16 + t / 16 * 32);
    { const real2 v = p[0]; x[0] = v.x; y[0] = v.y; }
    { const real2 v = p[128]; x[1] = v.x; y[1] = v.y; }
    { const real2 v = p[256]; x[2] = v.x; y[2] = v.y; }
    { const real2 v = p[384]; x[3] = v.x; y[3] = v.y; }
    { const real2 v = p[512]; x[4] = v.x; y[4] = v.y; }
    { const real2 v = p[640]; x[5] = v.x; y[5] = v.y; }
    { const real2 v = p[768]; x[6] = v.x; y[6] = v.y; }
    { const real2 v = p[896]; x[7] = v.x; y[7] = v.y; }
  }
  // ---- round 1 of 2
  {
    dft8<1>(x + 0, y + 0);
    {
      const unsigned m = t / 16;
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
  {
    real2* p = shared + (t);
    p[0] = ft_make(x[0], y[0]);
    p[64] = ft_make(x[1], y[1]);
    p[128] = ft_make(x[2], y[2]);
    p[192] = ft_make(x[3], y[3]);
    p[256] = ft_make(x[4], y[4]);
    p[320] = ft_make(x[5], y[5]);
    p[384] = ft_make(x[6], y[6]);
    p[448] = ft_make(x[7], y[7]);
  }
  __syncthreads();
  {
    const real2* p = shared + (t % 16 + t / 16 * 64);
    { const real2 v = p[0]; x[0] = v.x; y[0] = v.y; }
    { const real2 v = p[16]; x[1] = v.x; y[1] = v.y; }
    { const real2 v = p[32]; x[2] = v.x; y[2] = v.y; }
    { const real2 v = p[48]; x[3] = v.x; y[3] = v.y; }
    { const real2 v = p[256]; x[4] = v.x; y[4] = v.y; }
    { const real2 v = p[272]; x[5] = v.x; y[5] = v.y; }
    { const real2 v = p[288]; x[6] = v.x; y[6] = v.y; }
    { const real2 v = p[304]; x[7] = v.x; y[7] = v.y; }
  }
  // ---- round 2 of 2
  {
    dft4<1>(x + 0, y + 0);
    dft4<1>(x + 4, y + 4);
  }
  real2* to = out + (tile % 2 * 16 + tile / 2 * 1024);
  {
    real2* p = to + (t % 16 + t / 16 * 32);
    p[0] = ft_make(x[0], y[0]);
    p[256] = ft_make(x[1], y[1]);
    p[512] = ft_make(x[2], y[2]);
    p[768] = ft_make(x[3], y[3]);
    p[128] = ft_make(x[4], y[4]);
    p[384] = ft_make(x[5], y[5]);
    p[640] = ft_make(x[6], y[6]);
    p[896] = ft_make(x[7], y[7]);
  }
}

// {Z(1,16,1,16,no-tw)}[threads=32,tile=16]
extern "C" __global__ void __launch_bounds__(32, 1) ft_3f_f32(const real2* __restrict__ in, real2* __restrict__ out) {
  const unsigned t = threadIdx.x;
  dev_follow();
  real x[16], y[16];
  const unsigned tile = blockIdx.x;
  const real2* from = in + (tile * 16);
  if (t < 16) {
    const real2* p = from + (t);
    { const real2 v = p[0]; x[0] = v.x; y[0] = v.y; }
    { const real2 v = p[1024]; x[1] = v.x; y[1] = v.y; }
    { const real2 v = p[2048]; x[2] = v.x; y[2] = v.y; }
    { const real2 v = p[3072]; x[3] = v.x; y[3] = v.y; }
    { const real2 v = p[4096]; x[4] = v.x; y[4] = v.y; }
    { const real2 v = p[5120]; x[5] = v.x; y[5] = v.y; }
    { const real2 v = p[6144]; x[6] = v.x; y[6] = v.y; }
    { const real2 v = p[7168]; x[7] = v.x; y[7] = v.y; }
    { const real2 v = p[8192]; x[8] = v.x; y[8] = v.y; }
    { const real2 v = p[9216]; x[9] = v.x; y[9] = v.y; }
    { const real2 v = p[10240]; x[10] = v.x; y[10] = v.y; }
    { const real2 v = p[11264]; x[11] = v.x; y[11] = v.y; }
    { const real2 v = p[12288]; x[12] = v.x; y[12] = v.y; }
    { const real2 v = p[13312]; x[13] = v.x; y[13] = v.y; }
    { const real2 v = p[14336]; x[14] = v.x; y[14] = v.y; }
    { const real2 v = p[15360]; x[15] = v.x; y[15] = v.y; }
  }
  // ---- round 1 of 1
  if (t < 16) {
    dft16<1>(x + 0, y + 0);
  }
  real2* to = out + (tile * 16);
  if (t < 16) {
    real2* p = to + (t);
    p[0] = ft_make(x[0], y[0]);
    p[1024] = ft_make(x[1], y[1]);
    p[2048] = ft_make(x[2], y[2]);
    p[3072] = ft_make(x[3], y[3]);
    p[4096] = ft_make(x[4], y[4]);
    p[5120] = ft_make(x[5], y[5]);
    p[6144] = ft_make(x[6], y[6]);
    p[7168] = ft_make(x[7], y[7]);
    p[8192] = ft_make(x[8], y[8]);
    p[9216] = ft_make(x[9], y[9]);
    p[10240] = ft_make(x[10], y[10]);
    p[11264] = ft_make(x[11], y[11]);
    p[12288] = ft_make(x[12], y[12]);
    p[13312] = ft_make(x[13], y[13]);
    p[14336] = ft_make(x[14], y[14]);
    p[15360] = ft_make(x[15], y[15]);
  }
}
// launch: 64 blocks, first0 second0 constant0, 262144 bytes, steps 2048 and 2048, 409600 operations
// launch: 32 blocks, second0 second0 constant0, 262144 bytes, steps 0 and 0, 409600 operations
// launch: 64 blocks, second0 second0, 262144 bytes, steps 128 and 128, 327680 operations
