// {X(16,16,16,256,tw),X(16,16,1,16,no-tw)}[threads=64,tile=1x4]:order=natural

// {X(16,16,16,256,tw),X(16,16,1,16,no-tw)}[threads=64,tile=1x4]
extern "C" __global__ void __launch_bounds__(64, 1) ft_1f_f32(const real2* __restrict__ in, real2* __restrict__ out, const real2* __restrict__ turns0) {
  const unsigned t = threadIdx.x;
  dev_follow();
  FT_SHARED(real2, shared);
  real x[16], y[16];
  [[maybe_unused]] const unsigned tile = blockIdx.x;
  const real2* from = in;
  if (t < 16) {
    const real2* p = from + (t);
    { const real2 v = p[0]; x[0] = v.x; y[0] = v.y; }
    { const real2 v = p[16]; x[1] = v.x; y[1] = v.y; }
    { const real2 v = p[32]; x[2] = v.x; y[2] = v.y; }
    { const real2 v = p[48]; x[3] = v.x; y[3] = v.y; }
    { const real2 v = p[64]; x[4] = v.x; y[4] = v.y; }
    { const real2 v = p[80]; x[5] = v.x; y[5] = v.y; }
    { const real2 v = p[96]; x[6] = v.x; y[6] = v.y; }
    { const real2 v = p[112]; x[7] = v.x; y[7] = v.y; }
    { const real2 v = p[128]; x[8] = v.x; y[8] = v.y; }
    { const real2 v = p[144]; x[9] = v.x; y[9] = v.y; }
    { const real2 v = p[160]; x[10] = v.x; y[10] = v.y; }
    { const real2 v = p[176]; x[11] = v.x; y[11] = v.y; }
    { const real2 v = p[192]; x[12] = v.x; y[12] = v.y; }
    { const real2 v = p[208]; x[13] = v.x; y[13] = v.y; }
    { const real2 v = p[224]; x[14] = v.x; y[14] = v.y; }
    { const real2 v = p[240]; x[15] = v.x; y[15] = v.y; }
  }
  // ---- round 1 of 2
  if (t < 16) {
    dft16<1>(x + 0, y + 0);
    {
      const unsigned m = t;
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
  if (t < 16) {
    real2* p = shared + (t);
    p[0] = ft_make(x[0], y[0]);
    p[17] = ft_make(x[1], y[1]);
    p[34] = ft_make(x[2], y[2]);
    p[51] = ft_make(x[3], y[3]);
    p[68] = ft_make(x[4], y[4]);
    p[85] = ft_make(x[5], y[5]);
    p[102] = ft_make(x[6], y[6]);
    p[119] = ft_make(x[7], y[7]);
    p[136] = ft_make(x[8], y[8]);
    p[153] = ft_make(x[9], y[9]);
    p[170] = ft_make(x[10], y[10]);
    p[187] = ft_make(x[11], y[11]);
    p[204] = ft_make(x[12], y[12]);
    p[221] = ft_make(x[13], y[13]);
    p[238] = ft_make(x[14], y[14]);
    p[255] = ft_make(x[15], y[15]);
  }
  __syncwarp();
  if (t < 16) {
    const real2* p = shared + (t * 17);
    { const real2 v = p[0]; x[0] = v.x; y[0] = v.y; }
    { const real2 v = p[1]; x[1] = v.x; y[1] = v.y; }
    { const real2 v = p[2]; x[2] = v.x; y[2] = v.y; }
    { const real2 v = p[3]; x[3] = v.x; y[3] = v.y; }
    { const real2 v = p[4]; x[4] = v.x; y[4] = v.y; }
    { const real2 v = p[5]; x[5] = v.x; y[5] = v.y; }
    { const real2 v = p[6]; x[6] = v.x; y[6] = v.y; }
    { const real2 v = p[7]; x[7] = v.x; y[7] = v.y; }
    { const real2 v = p[8]; x[8] = v.x; y[8] = v.y; }
    { const real2 v = p[9]; x[9] = v.x; y[9] = v.y; }
    { const real2 v = p[10]; x[10] = v.x; y[10] = v.y; }
    { const real2 v = p[11]; x[11] = v.x; y[11] = v.y; }
    { const real2 v = p[12]; x[12] = v.x; y[12] = v.y; }
    { const real2 v = p[13]; x[13] = v.x; y[13] = v.y; }
    { const real2 v = p[14]; x[14] = v.x; y[14] = v.y; }
    { const real2 v = p[15]; x[15] = v.x; y[15] = v.y; }
  }
  // ---- round 2 of 2
  if (t < 16) {
    dft16<1>(x + 0, y + 0);
  }
  real2* to = out;
  if (t < 16) {
    real2* p = to + (t);
    p[0] = ft_make(x[0], y[0]);
    p[16] = ft_make(x[1], y[1]);
    p[32] = ft_make(x[2], y[2]);
    p[48] = ft_make(x[3], y[3]);
    p[64] = ft_make(x[4], y[4]);
    p[80] = ft_make(x[5], y[5]);
    p[96] = ft_make(x[6], y[6]);
    p[112] = ft_make(x[7], y[7]);
    p[128] = ft_make(x[8], y[8]);
    p[144] = ft_make(x[9], y[9]);
    p[160] = ft_make(x[10], y[10]);
    p[176] = ft_make(x[11], y[11]);
    p[192] = ft_make(x[12], y[12]);
    p[208] = ft_make(x[13], y[13]);
    p[224] = ft_make(x[14], y[14]);
    p[240] = ft_make(x[15], y[15]);
  }
}
// launch: 1 blocks, first0 second0 constant0, 4096 bytes, steps 2048 and 2048, 10240 operations
