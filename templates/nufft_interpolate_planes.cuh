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

NUFFT_DEVICE int nufft_height(const Record* records, count i, int x0, int y0) {
  return nufft_unpack(nufft_load(records, i), x0, y0, 0).cell[2];
}

extern "C" __global__ void __launch_bounds__(NUFFT_THREADS NUFFT_MIN_BLOCKS)
    NUFFT_ENTRY(const Record* __restrict__ records, const count* __restrict__ index, const Task* __restrict__ tasks,
                const count* __restrict__ task_total, const real2* __restrict__ grid, real2* __restrict__ values,
                long long m, long long values_distance, long long grid_distance) {
  dev_follow();
  NUFFT_SHARED(double, ring);
  if (blockIdx.x >= *task_total) return;
  const Task task = tasks[blockIdx.x];
  const int lane = static_cast<int>(threadIdx.x & 31), warp = static_cast<int>(threadIdx.x >> 5);
  const int x0 = static_cast<int>(task.group % NUFFT_NB0) * NUFFT_B0;
  const int y0 = static_cast<int>(task.group / NUFFT_NB0) * NUFFT_B1;
  real* stage = reinterpret_cast<real*>(ring + NUFFT_PLANES * NUFFT_FRAGMENTS * 32) + warp * 32 * NUFFT_ROW;
  for (int i = lane; i < 32 * NUFFT_ROW; i += 32) stage[i] = 0;
  values += blockIdx.y * values_distance;
  const real* parts = reinterpret_cast<const real*>(grid + blockIdx.y * grid_distance);
  int loaded = -1;  // planes below it were loaded
  for (count begin = task.start; begin < task.stop;) {
    const int low = nufft_height(records, begin, x0, y0);
    count end = task.stop - begin < NUFFT_THREADS ? task.stop : begin + NUFFT_THREADS;
    while (nufft_height(records, end - 1, x0, y0) - low > NUFFT_PLANES - NUFFT_W) end = begin + (end - begin) / 2;
    const int high = nufft_height(records, end - 1, x0, y0) + NUFFT_W;
    __syncthreads();  // the planes before have been used
    const int from = max(loaded, low);
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
    const count first = begin + static_cast<count>(warp * 32), last = end - 1;
    const int n = end > first ? static_cast<int>(min(end - first, static_cast<count>(32))) : 0;
    const Located p = nufft_unpack(nufft_load(records, min(first + static_cast<count>(lane), last)), x0, y0, 0);
    real* own = stage + lane * NUFFT_ROW;
    if (lane < n) {
      real v[NUFFT_W];
      nufft_window(p.z[0], v);
#pragma unroll
      for (int k = 0; k < NUFFT_W; ++k) own[NUFFT_MX + k] = v[k];
      nufft_window(p.z[1], v);
#pragma unroll
      for (int k = 0; k < NUFFT_W; ++k) own[NUFFT_LX + NUFFT_MY + k] = v[k];
      nufft_window(p.z[2], v);
#pragma unroll
      for (int k = 0; k < NUFFT_W; ++k) own[NUFFT_LX + NUFFT_LY + k] = v[k];
    }
    __syncthreads();
    begin = end;
    if (n == 0) continue;
    const int shifts = (p.cell[0] - x0) | (p.cell[1] - y0) << 8;
    double along_x[4][NUFFT_KX], sums[4][NUFFT_KY][2];
    const real* rows[4];
    int bottom[4], lowest[4], highest[4];  // of each lane's point; of eight points
#pragma unroll
    for (int s = 0; s < 4; ++s) {
      const int at = min(8 * s + lane / 4, n - 1), shift = __shfl_sync(0xffffffffu, shifts, at);
      rows[s] = stage + at * NUFFT_ROW + NUFFT_LX;
      const real* row = rows[s] + lane % 4 - NUFFT_LX + NUFFT_MX - (shift & 255);
#pragma unroll
      for (int k = 0; k < NUFFT_KX; ++k) along_x[s][k] = static_cast<double>(row[4 * k]);
      rows[s] += NUFFT_LY;
      bottom[s] = __shfl_sync(0xffffffffu, p.cell[2], at);
      lowest[s] = 8 * s < n ? __shfl_sync(0xffffffffu, p.cell[2], min(8 * s, 31)) : 1 << 30;
      highest[s] = 8 * s < n ? __shfl_sync(0xffffffffu, p.cell[2], min(8 * s + 7, n - 1)) + NUFFT_W : 0;
#pragma unroll
      for (int t = 0; t < NUFFT_KY; ++t) sums[s][t][0] = sums[s][t][1] = 0;
    }
    const int top = __shfl_sync(0xffffffffu, p.cell[2], n - 1) + NUFFT_W;
    int slot = lowest[0] % NUFFT_PLANES;
    for (int z = lowest[0]; z < top; ++z) {
      double plane[NUFFT_FRAGMENTS];
#pragma unroll
      for (int f = 0; f < NUFFT_FRAGMENTS; ++f) plane[f] = ring[(slot * NUFFT_FRAGMENTS + f) * 32 + lane];
#pragma unroll
      for (int s = 0; s < 4; ++s) {
        if (z < lowest[s] || z >= highest[s]) continue;
        const unsigned above = static_cast<unsigned>(z - bottom[s]);
        const double along_z = above < NUFFT_W ? static_cast<double>(rows[s][above]) : 0;
#pragma unroll
        for (int k = 0; k < NUFFT_KX; ++k) {
          const double weight = along_x[s][k] * along_z;
#pragma unroll
          for (int t = 0; t < NUFFT_KY; ++t)
            dev_multiply(sums[s][t][0], sums[s][t][1], weight, plane[t * NUFFT_KX + k]);
        }
      }
      slot = slot + 1 == NUFFT_PLANES ? 0 : slot + 1;
    }
    real2 sum[4];
#pragma unroll
    for (int s = 0; s < 4; ++s) {
      const int at = min(8 * s + lane / 4, n - 1), shift = __shfl_sync(0xffffffffu, shifts, at);
      const real* row = rows[s] + lane % 4 - NUFFT_LY + NUFFT_MY - (shift >> 8);
      sum[s] = nufft_zero();
#pragma unroll
      for (int t = 0; t < NUFFT_KY; ++t)
        nufft_add(sum[s], row[4 * t], nufft_make(static_cast<real>(sums[s][t][0]), static_cast<real>(sums[s][t][1])));
    }
    const int mine = lane % 4 * 8 + lane / 4;  // whose sum this lane has after the trades
    nufft_trade(sum[0], sum[1], 1, (lane & 1) != 0);
    nufft_trade(sum[2], sum[3], 1, (lane & 1) != 0);
    nufft_trade(sum[0], sum[2], 2, (lane & 2) != 0);
    if (mine < n) values[__ldg(index + first + static_cast<count>(mine))] = sum[0];
  }
}
