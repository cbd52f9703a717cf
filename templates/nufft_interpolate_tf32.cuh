// Interpolation in 3D and single precision on the matrix units (nufft_tf32.cuh), the mirror of nufft_spread_tf32.cuh:
// along[point, plane] = sum over cells of weight[point, cell] grid[cell, plane] for sixteen points at once, then the
// four lanes of a point sum up its planes. Of the tile lane l keeps x = l % 4 and four further, all y, and of two
// slots, l / 8 and four further, the real or the imaginary part. Planes are read when the first point above them comes.
//
// Staged numbers of a point: weights of the slots, eight of x, eight of y.
#define NUFFT_ALONG_X 8
#define NUFFT_ALONG_Y 16

extern "C" __global__ void __launch_bounds__(32 NUFFT_MIN_BLOCKS)
    NUFFT_ENTRY(const Record* __restrict__ records, const count* __restrict__ index, const Task* __restrict__ tasks,
                const count* __restrict__ task_total, const real2* __restrict__ grid, real2* __restrict__ values,
                long long m, const Distances distances) {
  NUFFT_SHARED(real, stage);
  if (blockIdx.x >= *task_total) return dev_follow();
  const Task task = tasks[blockIdx.x];
  values += blockIdx.y * distances.values;
  const real* parts = reinterpret_cast<const real*>(grid + blockIdx.y * distances.grid);
  const int lane = static_cast<int>(threadIdx.x & 31), eighth = lane / 4, part = lane % 4;
  const Corner origin = nufft_corner(task);
  const int x0 = origin.x, y0 = origin.y;
  int at_x[2];  // -1: past the reach of a cut bin
#pragma unroll
  for (int k = 0; k < 2; ++k) {
    const int x = x0 + part + 4 * k;
    at_x[k] = x < NUFFT_N0 + NUFFT_W - 1 ? 2 * nufft_wrap(x, NUFFT_N0) + eighth % 2 : -1;
  }
  Right tile[NUFFT_TY][2];  // of eight cells of a row
#pragma unroll
  for (int y = 0; y < NUFFT_TY; ++y)
#pragma unroll
    for (int k = 0; k < 4; ++k) tile[y][k / 2].high[k % 2] = tile[y][k / 2].low[k % 2] = 0;
  int held[2] = {-1, -1};  // planes in this lane's slots

  const count last = task.stop - 1;
  Record record = nufft_load(records, min(task.start + lane, last));
  dev_follow();  // for the grid
  for (count first = task.start; first < task.stop; first += 32) {
    const int n = task.stop - first < 32 ? static_cast<int>(task.stop - first) : 32;
    const Located p = nufft_unpack(record, x0, y0, 0);
    const count mine = __ldg(index + min(first + lane, last));
    if (first + 32 < task.stop) record = nufft_load(records, min(first + 32 + lane, last));
    const int my_z = p.cell[2];
    real* own = stage + lane * NUFFT_STAGE;
    float v[8];
    nufft_weights_of_eight<true>(v, p.z[2], my_z);
    nufft_put_eight(own, v);
    nufft_weights_of_eight<false>(v, p.z[0], p.cell[0] - x0);
    nufft_put_eight(own + NUFFT_ALONG_X, v);
    nufft_weights_of_eight<false>(v, p.z[1], p.cell[1] - y0);
    nufft_put_eight(own + NUFFT_ALONG_Y, v);
    __syncwarp();
    for (int j = 0; j < n;) {
      const int lowest = __shfl_sync(0xffffffffu, my_z, j);
      const bool fits = lane >= j && lane < min(j + 16, n) && my_z - lowest <= NUFFT_SPAN;
      const int points = __popc(__ballot_sync(0xffffffffu, fits));
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int plane = lowest + ((4 * half + eighth / 2 - lowest) & 7);
        if (plane == held[half]) continue;
        held[half] = plane;
        const real* from = parts + 2 * (static_cast<long long>(nufft_wrap(plane, NUFFT_PERIOD)) * NUFFT_PLANE_CELLS);
#pragma unroll
        for (int y = 0; y < NUFFT_TY; ++y) {
          const bool reached = y0 + y < NUFFT_N1 + NUFFT_W - 1;
          const real* row = from + 2 * (nufft_wrap(reached ? y0 + y : 0, NUFFT_N1) * NUFFT_N0);
#pragma unroll
          for (int k = 0; k < 2; ++k)
            nufft_split(reached && at_x[k] >= 0 ? __ldg(row + at_x[k]) : 0, tile[y][half].high[k],
                        tile[y][half].low[k]);
        }
      }
      // Two of the points, an eighth and the one eight further; what comes of points that are not there is dropped.
      const real* near = stage + min(j + eighth, 31) * NUFFT_STAGE;
      const real* far = stage + min(j + eighth + 8, 31) * NUFFT_STAGE;
      float along[2][4] = {{0, 0, 0, 0}, {0, 0, 0, 0}}, rest[2][4] = {{0, 0, 0, 0}, {0, 0, 0, 0}};
      float near_y[8], far_y[8];
      nufft_take_eight(near_y, near + NUFFT_ALONG_Y);
      nufft_take_eight(far_y, far + NUFFT_ALONG_Y);
      const float near_x[2] = {near[NUFFT_ALONG_X + part], near[NUFFT_ALONG_X + part + 4]};
      const float far_x[2] = {far[NUFFT_ALONG_X + part], far[NUFFT_ALONG_X + part + 4]};
#pragma unroll
      for (int y = 0; y < NUFFT_TY; ++y) {
        Left weights;
#pragma unroll
        for (int k = 0; k < 2; ++k) {
          nufft_split(near_x[k] * near_y[y], weights.high[2 * k], weights.low[2 * k]);
          nufft_split(far_x[k] * far_y[y], weights.high[2 * k + 1], weights.low[2 * k + 1]);
        }
        nufft_add_products(along[0], rest[0], weights, tile[y][0]);
        nufft_add_products(along[1], rest[1], weights, tile[y][1]);
      }
      real2 one = nufft_zero(), other = nufft_zero();
#pragma unroll
      for (int half = 0; half < 2; ++half) {
#pragma unroll
        for (int k = 0; k < 4; ++k) along[half][k] += rest[half][k];
        nufft_add(one, near[4 * half + part], nufft_make(along[half][0], along[half][1]));
        nufft_add(other, far[4 * half + part], nufft_make(along[half][2], along[half][3]));
      }
      // Lanes of odd parts go on with the point that is eight further.
      const bool odd = (part & 1) != 0;
      const real2 give = odd ? one : other;
      real2 sum = odd ? other : one;
      sum.x += __shfl_xor_sync(0xffffffffu, give.x, 1);
      sum.y += __shfl_xor_sync(0xffffffffu, give.y, 1);
      sum.x += __shfl_xor_sync(0xffffffffu, sum.x, 2);
      sum.y += __shfl_xor_sync(0xffffffffu, sum.y, 2);
      const int of = eighth + 8 * (part & 1);
      const count to = __shfl_sync(0xffffffffu, mine, (j + of) & 31);
      if (part < 2 && of < points) values[to] = sum;
      j += points;
    }
    __syncwarp();
  }
}
