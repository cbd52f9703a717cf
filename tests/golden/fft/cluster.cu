// {Y(4,8,4,32,tw),Y(8,4,1,4,no-tw),X(8,4,8,32,tw),X(4,8,1,8,no-tw)}[threads=32,tile=1,parts=apart,cluster=4]:order=natural

// {Y(4,8,4,32,tw),Y(8,4,1,4,no-tw),X(8,4,8,32,tw),X(4,8,1,8,no-tw)}[threads=32,tile=1,parts=apart,cluster=4]
extern "C" __global__ void __launch_bounds__(32, 1) ft_1f_f32(const real2* __restrict__ in, real2* __restrict__ out, const real2* __restrict__ turns0) {
  const unsigned t = threadIdx.x;
  dev_follow();
  FT_SHARED(real, shared);
  real x[8], y[8];
  const unsigned rank = dev_cluster_rank();
  const unsigned tile = blockIdx.x / 4;
  dev_cluster_arrive();
  const real2* from = in;
  {
    const real2* p = from + (t + rank % 2 * 64 + rank / 2 * 32);
    { const real2 v = p[0]; x[0] = v.x; y[0] = v.y; }
    { const real2 v = p[128]; x[1] = v.x; y[1] = v.y; }
    { const real2 v = p[256]; x[2] = v.x; y[2] = v.y; }
    { const real2 v = p[384]; x[3] = v.x; y[3] = v.y; }
    { const real2 v = p[512]; x[4] = v.x; y[4] = v.y; }
    { const real2 v = p[640]; x[5] = v.x; y[5] = v.y; }
    { const real2 v = p[768]; x[6] = v.x; y[6] = v.y; }
    { const real2 v = p[896]; x[7] = v.x; y[7] = v.y; }
  }
  // ---- round 1 of 4
  {
    dft8<1>(x + 0, y + 0);
    {
      const unsigned m = rank % 2 * 2 + rank / 2;
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
  dev_cluster_wait();
  {
    real* p = shared + (t + rank % 2 * 128 + rank / 2 * 64);
    real* p0 = dev_cluster_map(p, 0);
    real* p1 = dev_cluster_map(p, 1);
    real* p2 = dev_cluster_map(p, 2);
    real* p3 = dev_cluster_map(p, 3);
    p0[0] = x[0];
    p0[32] = x[1];
    p2[0] = x[2];
    p2[32] = x[3];
    p1[0] = x[4];
    p1[32] = x[5];
    p3[0] = x[6];
    p3[32] = x[7];
  }
  dev_cluster_sync();
  {
    const real* p = shared + (t);
    x[0] = p[0];
    x[1] = p[64];
    x[2] = p[128];
    x[3] = p[192];
    x[4] = p[32];
    x[5] = p[96];
    x[6] = p[160];
    x[7] = p[224];
  }
  dev_cluster_sync();
  {
    real* p = shared + (t + rank % 2 * 128 + rank / 2 * 64);
    real* p0 = dev_cluster_map(p, 0);
    real* p1 = dev_cluster_map(p, 1);
    real* p2 = dev_cluster_map(p, 2);
    real* p3 = dev_cluster_map(p, 3);
    p0[0] = y[0];
    p0[32] = y[1];
    p2[0] = y[2];
    p2[32] = y[3];
    p1[0] = y[4];
    p1[32] = y[5];
    p3[0] = y[6];
    p3[32] = y[7];
  }
  dev_cluster_sync();
  {
    const real* p = shared + (t);
    y[0] = p[0];
    y[1] = p[64];
    y[2] = p[128];
    y[3] = p[192];
    y[4] = p[32];
    y[5] = p[96];
    y[6] = p[160];
    y[7] = p[224];
  }
  // ---- round 2 of 4
  {
    dft4<1>(x + 0, y + 0);
    dft4<1>(x + 4, y + 4);
  }
  __syncthreads();
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
  }
  __syncwarp();
  {
    const real* p = shared + (t % 8 + t / 8 * 40);
    x[0] = p[0];
    x[1] = p[8];
    x[2] = p[16];
    x[3] = p[24];
    x[4] = p[160];
    x[5] = p[168];
    x[6] = p[176];
    x[7] = p[184];
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
  }
  __syncwarp();
  {
    const real* p = shared + (t % 8 + t / 8 * 40);
    y[0] = p[0];
    y[1] = p[8];
    y[2] = p[16];
    y[3] = p[24];
    y[4] = p[160];
    y[5] = p[168];
    y[6] = p[176];
    y[7] = p[184];
  }
  // ---- round 3 of 4
  {
    dft4<1>(x + 0, y + 0);
    dft4<1>(x + 4, y + 4);
    {
      const unsigned m = t % 8;
      const real2 w1 = turns0[m];
      ft_turn(x[1], y[1], w1);
      ft_turn(x[5], y[5], w1);
      const real2 w2 = ft_square(w1);
      ft_turn(x[2], y[2], w2);
      ft_turn(x[6], y[6], w2);
      const real2 w3 = ft_times(w2, w1);
      ft_turn(x[3], y[3], w3);
      ft_turn(x[7], y[7], w3);
    }
  }
  __syncthreads();
  {
    real* p = shared + (t);
    p[0] = x[0];
    p[33] = x[1];
    p[66] = x[2];
    p[99] = x[3];
    p[132] = x[4];
    p[165] = x[5];
    p[198] = x[6];
    p[231] = x[7];
  }
  __syncwarp();
  {
    const real* p = shared + (t % 8 * 33 + t / 8 * 8);
    x[0] = p[0];
    x[1] = p[1];
    x[2] = p[2];
    x[3] = p[3];
    x[4] = p[4];
    x[5] = p[5];
    x[6] = p[6];
    x[7] = p[7];
  }
  __syncwarp();
  {
    real* p = shared + (t);
    p[0] = y[0];
    p[33] = y[1];
    p[66] = y[2];
    p[99] = y[3];
    p[132] = y[4];
    p[165] = y[5];
    p[198] = y[6];
    p[231] = y[7];
  }
  __syncwarp();
  {
    const real* p = shared + (t % 8 * 33 + t / 8 * 8);
    y[0] = p[0];
    y[1] = p[1];
    y[2] = p[2];
    y[3] = p[3];
    y[4] = p[4];
    y[5] = p[5];
    y[6] = p[6];
    y[7] = p[7];
  }
  // ---- round 4 of 4
  {
    dft8<1>(x + 0, y + 0);
  }
  real2* to = out;
  {
    real2* p = to + (t % 4 + t / 4 % 2 * 32 + t / 8 * 256 + rank % 2 * 128 + rank / 2 * 64);
    p[0] = ft_make(x[0], y[0]);
    p[4] = ft_make(x[1], y[1]);
    p[8] = ft_make(x[2], y[2]);
    p[12] = ft_make(x[3], y[3]);
    p[16] = ft_make(x[4], y[4]);
    p[20] = ft_make(x[5], y[5]);
    p[24] = ft_make(x[6], y[6]);
    p[28] = ft_make(x[7], y[7]);
  }
}
// launch: 4 blocks, first0 second0 constant0, 16384 bytes, steps 0 and 0, 51200 operations
