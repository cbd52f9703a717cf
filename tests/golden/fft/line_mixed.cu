// {X(6,10,6,60,tw),X(10,6,1,6,no-tw)}[threads=32,tile=1x3]:order=natural

// {X(6,10,6,60,tw),X(10,6,1,6,no-tw)}[threads=32,tile=1x3]
extern "C" __global__ void __launch_bounds__(32, 1) ft_1f_f32(const real2* __restrict__ in, real2* __restrict__ out, const real2* __restrict__ turns0) {
  const unsigned t = threadIdx.x;
  dev_follow();
  FT_SHARED(real2, shared);
  real x[10], y[10];
  [[maybe_unused]] const unsigned tile = blockIdx.x;
  const real2* from = in;
  if (t < 6) {
    const real2* p = from + (t);
    { const real2 v = p[0]; x[0] = v.x; y[0] = v.y; }
    { const real2 v = p[6]; x[1] = v.x; y[1] = v.y; }
    { const real2 v = p[12]; x[2] = v.x; y[2] = v.y; }
    { const real2 v = p[18]; x[3] = v.x; y[3] = v.y; }
    { const real2 v = p[24]; x[4] = v.x; y[4] = v.y; }
    { const real2 v = p[30]; x[5] = v.x; y[5] = v.y; }
    { const real2 v = p[36]; x[6] = v.x; y[6] = v.y; }
    { const real2 v = p[42]; x[7] = v.x; y[7] = v.y; }
    { const real2 v = p[48]; x[8] = v.x; y[8] = v.y; }
    { const real2 v = p[54]; x[9] = v.x; y[9] = v.y; }
  }
  // ---- round 1 of 2
  if (t < 6) {
    dft10<1>(x + 0, y + 0);
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
    }
  }
  if (t < 6) {
    real2* p = shared + (t);
    p[0] = ft_make(x[0], y[0]);
    p[7] = ft_make(x[1], y[1]);
    p[14] = ft_make(x[2], y[2]);
    p[21] = ft_make(x[3], y[3]);
    p[28] = ft_make(x[4], y[4]);
    p[35] = ft_make(x[5], y[5]);
    p[42] = ft_make(x[6], y[6]);
    p[49] = ft_make(x[7], y[7]);
    p[56] = ft_make(x[8], y[8]);
    p[63] = ft_make(x[9], y[9]);
  }
  __syncthreads();
  if (t < 10) {
    const real2* p = shared + (t * 7);
    { const real2 v = p[0]; x[0] = v.x; y[0] = v.y; }
    { const real2 v = p[1]; x[1] = v.x; y[1] = v.y; }
    { const real2 v = p[2]; x[2] = v.x; y[2] = v.y; }
    { const real2 v = p[3]; x[3] = v.x; y[3] = v.y; }
    { const real2 v = p[4]; x[4] = v.x; y[4] = v.y; }
    { const real2 v = p[5]; x[5] = v.x; y[5] = v.y; }
  }
  // ---- round 2 of 2
  if (t < 10) {
    dft6<1>(x + 0, y + 0);
  }
  real2* to = out;
  if (t < 10) {
    real2* p = to + (t);
    p[0] = ft_make(x[0], y[0]);
    p[10] = ft_make(x[1], y[1]);
    p[20] = ft_make(x[2], y[2]);
    p[30] = ft_make(x[3], y[3]);
    p[40] = ft_make(x[4], y[4]);
    p[50] = ft_make(x[5], y[5]);
  }
}
// launch: 1 blocks, first0 second0 constant0, 960 bytes, steps 480 and 480, 1772.0671786825556 operations
