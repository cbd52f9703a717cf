// {X(64,16,64,1024,tw)}[threads=64,tile=16,store=sorted,to=work]{X(64,16,4,64,tw),X(256,4,1,4,no-tw)}[threads=64,tile=16]:order=natural

// {X(64,16,64,1024,tw)}[threads=64,tile=16,store=sorted,to=work]
extern "C" __global__ void __launch_bounds__(64, 1) ft_1f_f32(const real2* __restrict__ in, real2* __restrict__ out, const real2* __restrict__ turns0) {
  const unsigned t = threadIdx.x;
  dev_follow();
  real x[16], y[16];
  const unsigned tile = blockIdx.x;
  const real2* from = in + (tile * 16);
  if (t < 16) {
    const real2* p = from + (t);
    { const real2 v = p[0]; x[0] = v.x; y[0] = v.y; }
    { const real2 v = p[64]; x[1] = v.x; y[1] = v.y; }
    { const real2 v = p[128]; x[2] = v.x; y[2] = v.y; }
    { const real2 v = p[192]; x[3] = v.x; y[3] = v.y; }
    { const real2 v = p[256]; x[4] = v.x; y[4] = v.y; }
    { const real2 v = p[320]; x[5] = v.x; y[5] = v.y; }
    { const real2 v = p[384]; x[6] = v.x; y[6] = v.y; }
    { const real2 v = p[448]; x[7] = v.x; y[7] = v.y; }
    { const real2 v = p[512]; x[8] = v.x; y[8] = v.y; }
    { const real2 v = p[576]; x[9] = v.x; y[9] = v.y; }
    { const real2 v = p[640]; x[10] = v.x; y[10] = v.y; }
    { const real2 v = p[704]; x[11] = v.x; y[11] = v.y; }
    { const real2 v = p[768]; x[12] = v.x; y[12] = v.y; }
    { const real2 v = p[832]; x[13] = v.x; y[13] = v.y; }
    { const real2 v = p[896]; x[14] = v.x; y[14] = v.y; }
    { const real2 v = p[960]; x[15] = v.x; y[15] = v.y; }
  }
  // ---- round 1 of 1
  if (t < 16) {
    dft16<1>(x + 0, y + 0);
    {
      const unsigned m = tile * 16 + t;
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
      const real2 w8 = ft_square(w4);
      ft_turn(x[8], y[8], w8);
      const real2 w9 = ft_times(w8, w1);
      ft_turn(x[9], y[9], w9);
      const real2 w10 = ft_square(w5);
      ft_turn(x[10], y[10], w10);
      const real2 w11 = ft_times(w10, w1);
      ft_turn(x[11], y[11], w11);
      const real2 w12 = ft_square(w6);
      ft_turn(x[12], y[12], w12);
      const real2 w13 = ft_times(w12, w1);
      ft_turn(x[13], y[13], w13);
      const real2 w14 = ft_square(w7);
      ft_turn(x[14], y[14], w14);
      const real2 w15 = ft_times(w14, w1);
      ft_turn(x[15], y[15], w15);
    }
  }
  real2* to = out + (tile * 256);
  if (t < 16) {
    real2* p = to + (t * 16);
    p[0] = ft_make(x[0], y[0]);
    p[1] = ft_make(x[1], y[1]);
    p[2] = ft_make(x[2], y[2]);
    p[3] = ft_make(x[3], y[3]);
    p[4] = ft_make(x[4], y[4]);
    p[5] = ft_make(x[5], y[5]);
    p[6] = ft_make(x[6], y[6]);
    p[7] = ft_make(x[7], y[7]);
    p[8] = ft_make(x[8], y[8]);
    p[9] = ft_make(x[9], y[9]);
    p[10] = ft_make(x[10], y[10]);
    p[11] = ft_make(x[11], y[11]);
    p[12] = ft_make(x[12], y[12]);
    p[13] = ft_make(x[13], y[13]);
    p[14] = ft_make(x[14], y[14]);
    p[15] = ft_make(x[15], y[15]);
  }
}

// {X(64,16,4,64,tw),X(256,4,1,4,no-tw)}[threads=64,tile=16]
extern "C" __global__ void __launch_bounds__(64, 1) ft_2f_f32(const real2* __restrict__ in, real2* __restrict__ out, const real2* __restrict__ turns0) {
  const unsigned t = threadIdx.x;
  dev_follow();
  FT_SHARED(real2, shared);
  real x[16], y[16];
  [[maybe_unused]] const unsigned tile = blockIdx.x;
  const real2* from = in;
  {
    const real2* p = from + (t);
    { const real2 v = p[0]; x[0] = v.x; y[0] = v.y; }
    { const real2 v = p[64]; x[1] = v.x; y[1] = v.y; }
    { const real2 v = p[128]; x[2] = v.x; y[2] = v.y; }
    { const real2 v = p[192]; x[3] = v.x; y[3] = v.y; }
    { const real2 v = p[256]; x[4] = v.x; y[4] = v.y; }
    { const real2 v = p[320]; x[5] = v.x; y[5] = v.y; }
    { const real2 v = p[384]; x[6] = v.x; y[6] = v.y; }
    { const real2 v = p[448]; x[7] = v.x; y[7] = v.y; }
    { const real2 v = p[512]; x[8] = v.x; y[8] = v.y; }
    { const real2 v = p[576]; x[9] = v.x; y[9] = v.y; }
    { const real2 v = p[640]; x[10] = v.x; y[10] = v.y; }
    { const real2 v = p[704]; x[11] = v.x; y[11] = v.y; }
    { const real2 v = p[768]; x[12] = v.x; y[12] = v.y; }
    { const real2 v = p[832]; x[13] = v.x; y[13] = v.y; }
    { const real2 v = p[896]; x[14] = v.x; y[14] = v.y; }
    { const real2 v = p[960]; x[15] = v.x; y[15] = v.y; }
  }
  // ---- round 1 of 2
  {
    dft16<1>(x + 0, y + 0);
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
      const real2 w8 = ft_square(w4);
      ft_turn(x[8], y[8], w8);
      const real2 w9 = ft_times(w8, w1);
      ft_turn(x[9], y[9], w9);
      const real2 w10 = ft_square(w5);
      ft_turn(x[10], y[10], w10);
      const real2 w11 = ft_times(w10, w1);
      ft_turn(x[11], y[11], w11);
      const real2 w12 = ft_square(w6);
      ft_turn(x[12], y[12], w12);
      const real2 w13 = ft_times(w12, w1);
      ft_turn(x[13], y[13], w13);
      const real2 w14 = ft_square(w7);
      ft_turn(x[14], y[14], w14);
      const real2 w15 = ft_times(w14, w1);
      ft_turn(x[15], y[15], w15);
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
    p[512] = ft_make(x[8], y[8]);
    p[576] = ft_make(x[9], y[9]);
    p[640] = ft_make(x[10], y[10]);
    p[704] = ft_make(x[11], y[11]);
    p[768] = ft_make(x[12], y[12]);
    p[832] = ft_make(x[13], y[13]);
    p[896] = ft_make(x[14], y[14]);
    p[960] = ft_make(x[15], y[15]);
  }
  __syncthreads();
  {
    const real2* p = shared + (t % 16 + t / 16 * 64);
    { const real2 v = p[0]; x[0] = v.x; y[0] = v.y; }
    { const real2 v = p[16]; x[1] = v.x; y[1] = v.y; }
    { const real2 v = p[32]; x[2] = v.x; y[2] = v.y; }
    { const real2 v = p[48]; x[3] = v.x; y[3] = v.y; }
    { const real2 v = p[512]; x[4] = v.x; y[4] = v.y; }
    { const real2 v = p[528]; x[5] = v.x; y[5] = v.y; }
    { const real2 v = p[544]; x[6] = v.x; y[6] = v.y; }
    { const real2 v = p[560]; x[7] = v.x; y[7] = v.y; }
    { const real2 v = p[256]; x[8] = v.x; y[8] = v.y; }
    { const real2 v = p[272]; x[9] = v.x; y[9] = v.y; }
    { const real2 v = p[288]; x[10] = v.x; y[10] = v.y; }
    { const real2 v = p[304]; x[11] = v.x; y[11] = v.y; }
    { const real2 v = p[768]; x[12] = v.x; y[12] = v.y; }
    { const real2 v = p[784]; x[13] = v.x; y[13] = v.y; }
    { const real2 v = p[800]; x[14] = v.x; y[14] = v.y; }
    { const real2 v = p[816]; x[15] = v.x; y[15] = v.y; }
  }
  // ---- round 2 of 2
  {
    dft4<1>(x + 0, y + 0);
    dft4<1>(x + 4, y + 4);
    dft4<1>(x + 8, y + 8);
    dft4<1>(x + 12, y + 12);
  }
  real2* to = out;
  {
    real2* p = to + (t);
    p[0] = ft_make(x[0], y[0]);
    p[256] = ft_make(x[1], y[1]);
    p[512] = ft_make(x[2], y[2]);
    p[768] = ft_make(x[3], y[3]);
    p[128] = ft_make(x[4], y[4]);
    p[384] = ft_make(x[5], y[5]);
    p[640] = ft_make(x[6], y[6]);
    p[896] = ft_make(x[7], y[7]);
    p[64] = ft_make(x[8], y[8]);
    p[320] = ft_make(x[9], y[9]);
    p[576] = ft_make(x[10], y[10]);
    p[832] = ft_make(x[11], y[11]);
    p[192] = ft_make(x[12], y[12]);
    p[448] = ft_make(x[13], y[13]);
    p[704] = ft_make(x[14], y[14]);
    p[960] = ft_make(x[15], y[15]);
  }
}
// launch: 4 blocks, first0 work0 constant0, 16384 bytes, steps 128 and 2048, 20480 operations
// launch: 1 blocks, work0 second0 constant1, 16384 bytes, steps 0 and 0, 30720 operations
