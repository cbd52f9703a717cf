// Interpolation in 3D on the matrix units of double precision, along columns of sorted points. The block's padded planes
// lie in a ring in shared memory in the order in which lanes want them as right factors; a warp takes 32 points at once
// and adds, plane by plane, (weights of x times the point's weight of z) by G[x, (y, part)] to T[p, (y, part)], which
// stays in registers. In the end each lane sums its y and the four lanes of a point trade.
//
// The ring has PLANES planes: the points that a block takes at once lie within PLANES - W + 1 of them.
#define NUFFT_PX (4 * NUFFT_KX)
#define NUFFT_PY (4 * NUFFT_KY)
#define NUFFT_MX (NUFFT_PX - NUFFT_W)
#define NUFFT_MY (NUFFT_PY - NUFFT_W)
#define NUFFT_LX (NUFFT_PX + NUFFT_MX)
#define NUFFT_LY (NUFFT_PY + NUFFT_MY)
#define NUFFT_THREADS (32 * NUFFT_WARPS)
#define NUFFT_FRAGMENTS (NUFFT_KX * NUFFT_KY)

extern "C" __global__ void __launch_bounds__(NUFFT_THREADS NUFFT_MIN_BLOCKS)
    NUFFT_ENTRY(const Record* __restrict__ records, const count* __restrict__ index, const Task* __restrict__ tasks,
                const count* __restrict__ task_total, const real2* __restrict__ grid, real2* __restrict__ values,
                long long m, const Distances distances) {
  dev_follow();
  NUFFT_SHARED(double, ring);
  if (blockIdx.x >= *task_total) return;
  const Task task = tasks[blockIdx.x];
  const int lane = static_cast<int>(threadIdx.x & 31), warp = static_cast<int>(threadIdx.x >> 5);
  const Corner origin = nufft_corner(task);
  const int x0 = origin.x, y0 = origin.y;
  double* stage = ring + NUFFT_PLANES * NUFFT_FRAGMENTS * 32 + warp * 32 * NUFFT_ROW;
  for (int i = lane; i < 32 * NUFFT_ROW; i += 32) stage[i] = 0;
  values += blockIdx.y * distances.values;
  const real* parts = reinterpret_cast<const real*>(grid + blockIdx.y * distances.grid);
  int loaded = -1;  // planes below it were loaded
  for (count begin = task.start; begin < task.stop;) {
    Record record;
    int low = 0, high = 0;
    count end = begin;  // every warp looks at all of the block's points
#pragma unroll
    for (int w = 0; w < NUFFT_WARPS; ++w) {
      const count i = begin + static_cast<count>(w * 32 + lane);
      const Record one = nufft_load(records, min(i, task.stop - 1));
      const int height = nufft_unpack(one, x0, y0, 0).cell[2];
      if (w == 0) low = __shfl_sync(0xffffffffu, height, 0);
      const bool fits = i < task.stop && height - low <= NUFFT_PLANES - NUFFT_W;
      const int n = __popc(__ballot_sync(0xffffffffu, fits));
      if (n > 0) high = __shfl_sync(0xffffffffu, height, n - 1) + NUFFT_W;
      end += static_cast<count>(n);
      if (w == 0 || w == warp) record = one;
    }
    __syncthreads();  // the planes before have been used
    const int from = max(loaded, low);
#pragma unroll 4
    for (int i = static_cast<int>(threadIdx.x); i < (high - from) * (NUFFT_FRAGMENTS * 32); i += NUFFT_THREADS) {
      const int z = from + i / (NUFFT_FRAGMENTS * 32), f = i % (NUFFT_FRAGMENTS * 32) / 32, to = i % 32;
      const int x = nufft_wrap(x0 + 4 * (f % NUFFT_KX) + to % 4, NUFFT_N0);
      const int y = nufft_wrap(y0 + 4 * (f / NUFFT_KX) + to / 8, NUFFT_N1);
      const bool inside = x < NUFFT_N0 && y < NUFFT_N1;  // not past the reach of a cut bin
      const long long at = (static_cast<long long>(nufft_wrap(z, NUFFT_N2)) * NUFFT_N1 + y) * NUFFT_N0 + x;
      ring[(z % NUFFT_PLANES * NUFFT_FRAGMENTS + f) * 32 + to] =
          inside ? static_cast<double>(__ldg(parts + 2 * at + to / 4 % 2)) : 0;
    }
    loaded = high;
    const count first = begin + static_cast<count>(warp * 32);
    const int n = end > first ? static_cast<int>(min(end - first, static_cast<count>(32))) : 0;
    const Located p = nufft_unpack(record, x0, y0, 0);
    double* own = stage + lane * NUFFT_ROW;
    if (lane < n) {
      nufft_put_weights(own + NUFFT_MX, p.z[0]);
      nufft_put_weights(own + NUFFT_LX + NUFFT_MY, p.z[1]);
      nufft_put_weights(own + NUFFT_LX + NUFFT_LY, p.z[2]);
    }
    __syncthreads();
    begin = end;
    if (n == 0) continue;
    const int shifts = (p.cell[0] - x0) | (p.cell[1] - y0) << 8;
    double along_x[4][NUFFT_KX], sums[4][NUFFT_KY][2];
    const double* rows[4];
    int bottom[4], lowest[2], highest[2];  // of each lane's point; of 16 points
#pragma unroll
    for (int s = 0; s < 4; ++s) {
      const int at = min(8 * s + lane / 4, n - 1), shift = __shfl_sync(0xffffffffu, shifts, at);
      rows[s] = stage + at * NUFFT_ROW + NUFFT_LX;
      const double* row = rows[s] + lane % 4 - NUFFT_LX + NUFFT_MX - (shift & 255);
#pragma unroll
      for (int k = 0; k < NUFFT_KX; ++k) along_x[s][k] = row[4 * k];
      rows[s] += NUFFT_LY;
      bottom[s] = __shfl_sync(0xffffffffu, p.cell[2], at);
#pragma unroll
      for (int t = 0; t < NUFFT_KY; ++t) sums[s][t][0] = sums[s][t][1] = 0;
    }
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      lowest[h] = __shfl_sync(0xffffffffu, p.cell[2], min(16 * h, n - 1));
      highest[h] = 16 * h < n ? __shfl_sync(0xffffffffu, p.cell[2], min(16 * h + 15, n - 1)) + NUFFT_W : 0;
    }
    const int top = __shfl_sync(0xffffffffu, p.cell[2], n - 1) + NUFFT_W;
    int slot = lowest[0] % NUFFT_PLANES;
    for (int z = lowest[0]; z < top; ++z) {
      double plane[NUFFT_FRAGMENTS];
#pragma unroll
      for (int f = 0; f < NUFFT_FRAGMENTS; ++f) plane[f] = ring[(slot * NUFFT_FRAGMENTS + f) * 32 + lane];
#pragma unroll
      for (int s = 0; s < 4; s += 2) {
        if (z < lowest[s / 2] || z >= highest[s / 2]) continue;
        double along_z[2];
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const unsigned above = static_cast<unsigned>(z - bottom[s + half]);
          along_z[half] = above < NUFFT_W ? rows[s + half][above] : 0;
        }
#pragma unroll
        for (int k = 0; k < NUFFT_KX; ++k)
#pragma unroll
          for (int t = 0; t < NUFFT_KY; ++t)
            dev_multiply(sums[s][t], sums[s + 1][t], along_x[s][k] * along_z[0], along_x[s + 1][k] * along_z[1],
                         plane[t * NUFFT_KX + k]);
      }
      slot = slot + 1 == NUFFT_PLANES ? 0 : slot + 1;
    }
    real2 sum[4];
#pragma unroll
    for (int s = 0; s < 4; ++s) {
      const int at = min(8 * s + lane / 4, n - 1), shift = __shfl_sync(0xffffffffu, shifts, at);
      const double* row = rows[s] + lane % 4 - NUFFT_LY + NUFFT_MY - (shift >> 8);
      double re = 0, im = 0;
#pragma unroll
      for (int t = 0; t < NUFFT_KY; ++t) {
        re = __fma_rn(row[4 * t], sums[s][t][0], re);
        im = __fma_rn(row[4 * t], sums[s][t][1], im);
      }
      sum[s] = nufft_make(static_cast<real>(re), static_cast<real>(im));
    }
    const int mine = lane % 4 * 8 + lane / 4;  // whose sum this lane has after the trades
    nufft_trade(sum[0], sum[1], 1, (lane & 1) != 0);
    nufft_trade(sum[2], sum[3], 1, (lane & 1) != 0);
    nufft_trade(sum[0], sum[2], 2, (lane & 2) != 0);
    if (mine < n) values[__ldg(index + first + static_cast<count>(mine))] = sum[0];
  }
}
