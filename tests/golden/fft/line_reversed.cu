// {X(8,8,8,64,tw),X(8,8,1,8,no-tw)}[threads=32,tile=1x4]

// {X(8,8,8,64,tw),X(8,8,1,8,no-tw)}[threads=32,tile=1x4]
extern "C" __global__ void __launch_bounds__(32, 1) ft_1f_f32(const real2* __restrict__ in, real2* __restrict__ out, const real2* __restrict__ turns0) {
  const unsigned t = threadIdx.x;
  dev_follow();
  FT_SHARED(real2, shared);
  real x[8], y[8];
  [[maybe_unused]] const unsigned tile = blockIdx.x;
  const real2* from = in;
  if (t < 8) {
    const real2* p = from + (t);
    { const real2 v = p[0]; x[0] = v.x; y[0] = v.y; }
    { const real2 v = p[8]; x[1] = v.x; y[1] = v.y; }
    { const real2 v = p[16]; x[2] = v.x; y[2] = v.y; }
    { const real2 v = p[24]; x[3] = v.x; y[3] = v.y; }
    { const real2 v = p[32]; x[4] = v.x; y[4] = v.y; }
    { const real2 v = p[40]; x[5] = v.x; y[5] = v.y; }
    { const real2 v = p[48]; x[6] = v.x; y[6] = v.y; }
    { const real2 v = p[56]; x[7] = v.x; y[7] = v.y; }
  }
  // ---- round 1 of 2
  if (t < 8) {
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
  if (t < 8) {
    real2* p = shared + (t);
    p[0] = ft_make(x[0], y[0]);
    p[9] = ft_make(x[1], y[1]);
    p[18] = ft_make(x[2], y[2]);
    p[27] = ft_make(x[3], y[3]);
    p[36] = ft_make(x[4], y[4]);
    p[45] = ft_make(x[5], y[5]);
    p[54] = ft_make(x[6], y[6]);
    p[63] = ft_make(x[7], y[7]);
  }
  __syncwarp();
  if (t < 8) {
    const real2* p = shared + (t * 9);
    { const real2 v = p[0]; x[0] = v.x; y[0] = v.y; }
    { const real2 v = p[1]; x[1] = v.x; y[1] = v.y; }
    { const real2 v = p[2]; x[2] = v.x; y[2] = v.y; }
    { const real2 v = p[3]; x[3] = v.x; y[3] = v.y; }
    { const real2 v = p[4]; x[4] = v.x; y[4] = v.y; }
    { const real2 v = p[5]; x[5] = v.x; y[5] = v.y; }
    { const real2 v = p[6]; x[6] = v.x; y[6] = v.y; }
    { const real2 v = p[7]; x[7] = v.x; y[7] = v.y; }
  }
  // ---- round 2 of 2
  if (t < 8) {
    dft8<1>(x + 0, y + 0);
  }
  real2* to = out;
  if (t < 8) {
    real2* p = to + (t * 8);
    p[0] = ft_make(x[0], y[0]);
    p[1] = ft_make(x[1], y[1]);
    p[2] = ft_make(x[2], y[2]);
    p[3] = ft_make(x[3], y[3]);
    p[4] = ft_make(x[4], y[4]);
    p[5] = ft_make(x[5], y[5]);
    p[6] = ft_make(x[6], y[6]);
    p[7] = ft_make(x[7], y[7]);
  }
}
// launch: 1 blocks, first0 second0 constant0, 1024 bytes, steps 512 and 512, 1920 operations
