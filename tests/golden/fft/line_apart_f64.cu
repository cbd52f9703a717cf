// {X(16,8,16,128,tw),X(8,16,1,16,no-tw)}[threads=64,tile=1x8,parts=apart]:order=natural,prec=f64

// {X(16,8,16,128,tw),X(8,16,1,16,no-tw)}[threads=64,tile=1x8,parts=apart]
extern "C" __global__ void __launch_bounds__(64, 1) ft_1f_f64(const real2* __restrict__ in, real2* __restrict__ out, const real2* __restrict__ turns0) {
  const unsigned t = threadIdx.x;
  dev_follow();
  FT_SHARED(real, shared);
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
  }
  // ---- round 1 of 2
  if (t < 16) {
    dft8<1>(x + 0, y + 0);
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
    }
  }
  if (t < 16) {
    real* p = shared + (t);
    p[0] = x[0];
    p[17] = x[1];
    p[34] = x[2];
    p[51] = x[3];
    p[68] = x[4];
    p[85] = x[5];
    p[102] = x[6];
    p[119] = x[7];
  }
  __syncthreads();
  if (t < 8) {
    const real* p = shared + (t * 17);
    x[0] = p[0];
    x[1] = p[1];
    x[2] = p[2];
    x[3] = p[3];
    x[4] = p[4];
    x[5] = p[5];
    x[6] = p[6];
    x[7] = p[7];
    x[8] = p[8];
    x[9] = p[9];
    x[10] = p[10];
    x[11] = p[11];
    x[12] = p[12];
    x[13] = p[13];
    x[14] = p[14];
    x[15] = p[15];
  }
  __syncthreads();
  if (t < 16) {
    real* p = shared + (t);
    p[0] = y[0];
    p[17] = y[1];
    p[34] = y[2];
    p[51] = y[3];
    p[68] = y[4];
    p[85] = y[5];
    p[102] = y[6];
    p[119] = y[7];
  }
  __syncthreads();
  if (t < 8) {
    const real* p = shared + (t * 17);
    y[0] = p[0];
    y[1] = p[1];
    y[2] = p[2];
    y[3] = p[3];
    y[4] = p[4];
    y[5] = p[5];
    y[6] = p[6];
    y[7] = p[7];
    y[8] = p[8];
    y[9] = p[9];
    y[10] = p[10];
    y[11] = p[11];
    y[12] = p[12];
    y[13] = p[13];
    y[14] = p[14];
    y[15] = p[15];
  }
  // ---- round 2 of 2
  if (t < 8) {
    dft16<1>(x + 0, y + 0);
  }
  real2* to = out;
  if (t < 8) {
    real2* p = to + (t);
    p[0] = ft_make(x[0], y[0]);
    p[8] = ft_make(x[1], y[1]);
    p[16] = ft_make(x[2], y[2]);
    p[24] = ft_make(x[3], y[3]);
    p[32] = ft_make(x[4], y[4]);
    p[40] = ft_make(x[5], y[5]);
    p[48] = ft_make(x[6], y[6]);
    p[56] = ft_make(x[7], y[7]);
    p[64] = ft_make(x[8], y[8]);
    p[72] = ft_make(x[9], y[9]);
    p[80] = ft_make(x[10], y[10]);
    p[88] = ft_make(x[11], y[11]);
    p[96] = ft_make(x[12], y[12]);
    p[104] = ft_make(x[13], y[13]);
    p[112] = ft_make(x[14], y[14]);
    p[120] = ft_make(x[15], y[15]);
  }
}
// launch: 1 blocks, first0 second0 constant0, 4096 bytes, steps 2048 and 2048, 4480 operations
