// Interpolation in 2D on the matrix units of double precision: one warp serves the points of a bin, whose padded tile it
// holds in registers as right factors. T[p, (y, part)] = sum over x of a[p, x] G[x, (y, part)] for 16 points at once, a
// point's weights of x lying in a row of zeros, then each lane sums its y and the four lanes of a point trade. Sums are in
// double precision whatever the transform's, weights lie there already converted: conversions are slow.
//
// A point's weights lie in shared memory between zeros that are written once: [MX zeros, W of x, MX zeros, the same of y].
#define NUFFT_PX (4 * NUFFT_KX)
#define NUFFT_PY (4 * NUFFT_KY)
#define NUFFT_MX (NUFFT_PX - NUFFT_W)
#define NUFFT_MY (NUFFT_PY - NUFFT_W)
#define NUFFT_LX (NUFFT_PX + NUFFT_MX)

extern "C" __global__ void __launch_bounds__(32 * NUFFT_WARPS NUFFT_MIN_BLOCKS)
    NUFFT_ENTRY(const Record* __restrict__ records, const count* __restrict__ index, const Task* __restrict__ tasks,
                const count* __restrict__ task_total, const real2* __restrict__ grid, real2* __restrict__ values,
                long long m, const Distances distances) {
  dev_follow();
  NUFFT_SHARED(double, shared);
  const int lane = static_cast<int>(threadIdx.x & 31), warp = static_cast<int>(threadIdx.x >> 5);
  const count number = static_cast<count>(blockIdx.x) * NUFFT_WARPS + static_cast<count>(warp);
  if (number >= *task_total) return;
  const Task task = tasks[number];
  const Corner origin = nufft_corner(task);
  const int x0 = origin.x, y0 = origin.y;
  const count last = task.stop - 1;
  Record record = nufft_load(records, min(task.start + lane, last));
  double* stage = shared + warp * 32 * NUFFT_ROW;
  for (int i = lane; i < 32 * NUFFT_ROW; i += 32) stage[i] = 0;
  values += blockIdx.y * distances.values;
  const real* parts = reinterpret_cast<const real*>(grid + blockIdx.y * distances.grid);
  double tile[NUFFT_KX][NUFFT_KY];
#pragma unroll
  for (int t = 0; t < NUFFT_KY; ++t) {
    const int y = nufft_wrap(y0 + 4 * t + lane / 8, NUFFT_N1);
#pragma unroll
    for (int k = 0; k < NUFFT_KX; ++k) {
      const int x = nufft_wrap(x0 + 4 * k + lane % 4, NUFFT_N0);
      const bool inside = x < NUFFT_N0 && y < NUFFT_N1;  // not past the reach of a cut bin
      const long long at = 2 * (static_cast<long long>(y) * NUFFT_N0 + x) + lane / 4 % 2;
      tile[k][t] = inside ? static_cast<double>(__ldg(parts + at)) : 0;
    }
  }
  __syncwarp();
  for (count first = task.start; first < task.stop; first += 32) {
    const int n = task.stop - first < 32 ? static_cast<int>(task.stop - first) : 32;
    const Located p = nufft_unpack(record, x0, y0, 0);
    // After the trades lane l has the sum of this point of the batch.
    const int mine = lane % 4 * 8 + lane / 4;
    const count to = __ldg(index + min(first + mine, last));
    if (first + 32 < task.stop) record = nufft_load(records, min(first + 32 + lane, last));
    const int shifts = (p.cell[0] - x0) | (p.cell[1] - y0) << 8;
    double* own = stage + lane * NUFFT_ROW;
    nufft_put_weights(own + NUFFT_MX, p.z[0]);
    nufft_put_weights(own + NUFFT_LX + NUFFT_MY, p.z[1]);
    __syncwarp();
    real2 sum[4];
#pragma unroll
    for (int step = 0; step < 4; step += 2) {
      double re[2] = {0, 0}, im[2] = {0, 0};
      if (step * 8 < n) {
        double weight[2][NUFFT_KX];
        const double* along_y[2];
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const int at = (step + half) * 8 + lane / 4, shift = __shfl_sync(0xffffffffu, shifts, at);
          const double* row = stage + at * NUFFT_ROW + lane % 4;
          along_y[half] = row + NUFFT_LX + NUFFT_MY - (shift >> 8);
#pragma unroll
          for (int k = 0; k < NUFFT_KX; ++k) weight[half][k] = row[NUFFT_MX - (shift & 255) + 4 * k];
        }
#pragma unroll
        for (int t = 0; t < NUFFT_KY; ++t) {
          double above[2] = {0, 0}, below[2] = {0, 0};
#pragma unroll
          for (int k = 0; k < NUFFT_KX; ++k) dev_multiply(above, below, weight[0][k], weight[1][k], tile[k][t]);
          re[0] = __fma_rn(along_y[0][4 * t], above[0], re[0]);
          im[0] = __fma_rn(along_y[0][4 * t], above[1], im[0]);
          re[1] = __fma_rn(along_y[1][4 * t], below[0], re[1]);
          im[1] = __fma_rn(along_y[1][4 * t], below[1], im[1]);
        }
      }
      sum[step] = nufft_make(static_cast<real>(re[0]), static_cast<real>(im[0]));
      sum[step + 1] = nufft_make(static_cast<real>(re[1]), static_cast<real>(im[1]));
    }
    nufft_trade(sum[0], sum[1], 1, (lane & 1) != 0);
    nufft_trade(sum[2], sum[3], 1, (lane & 1) != 0);
    nufft_trade(sum[0], sum[2], 2, (lane & 2) != 0);
    if (mine < n) values[to] = sum[0];
    __syncwarp();
  }
}
