// Spreading in 3D and single precision on the matrix units (nufft_tf32.cuh): sum[cell, plane] += weight[cell, point]
// value[point, plane], eight points a product. One warp owns the tile, of which lane l keeps x = l / 4, all y, and the
// slots l % 4 and four further, and slides along z through points sorted by z. Planes that no later point can reach are
// added to the grid, as many as there are at a time.
//
// Staged numbers of a point: strength times weight for each slot, eight weights of x, eight of y.
#define NUFFT_ALONG_X 16
#define NUFFT_ALONG_Y 24

extern "C" __global__ void __launch_bounds__(32 NUFFT_MIN_BLOCKS)
    NUFFT_ENTRY(const Record* __restrict__ records, const count* __restrict__ index, const Task* __restrict__ tasks,
                const count* __restrict__ task_total, const real2* __restrict__ strengths, real2* __restrict__ grid,
                const Distances distances) {
  NUFFT_SHARED(real, stage);
  if (blockIdx.x >= *task_total) return dev_wait_earlier();
  const Task task = tasks[blockIdx.x];
  strengths += blockIdx.y * distances.values;
  grid += blockIdx.y * distances.grid;
  const int lane = static_cast<int>(threadIdx.x & 31), eighth = lane / 4, part = lane % 4;
  const Corner origin = nufft_corner(task);
  const int x0 = origin.x, y0 = origin.y;
  const bool reached = x0 + eighth < NUFFT_N0 + NUFFT_W - 1;  // not past the reach of a cut bin
  const int at_x = nufft_wrap(x0 + eighth, NUFFT_N0);
  float sum[NUFFT_TY / 2][2][4];
#pragma unroll
  for (int r = 0; r < NUFFT_TY / 2; ++r)
#pragma unroll
    for (int s = 0; s < 8; ++s) sum[r][s / 4][s % 4] = 0;

  int z = 0;                            // lowest plane kept
  const auto finish = [&](int until) {  // adds planes below it to the grid
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int plane = z + ((4 * half + part - z) & 7);
      const bool leaves = plane < until;
      if (!__any_sync(0xffffffffu, leaves)) continue;
      real2* to = grid + static_cast<long long>(nufft_wrap(plane, NUFFT_PERIOD)) * NUFFT_PLANE_CELLS + at_x;
#pragma unroll
      for (int y = 0; y < NUFFT_TY; ++y) {
        float& re = sum[y / 2][half][y % 2 * 2];
        float& im = sum[y / 2][half][y % 2 * 2 + 1];
        if (leaves && reached && y0 + y < NUFFT_N1 + NUFFT_W - 1 && (re != 0 || im != 0))
          dev_add(to + nufft_wrap(y0 + y, NUFFT_N1) * NUFFT_N0, nufft_make(re, im));
        re = leaves ? 0 : re;
        im = leaves ? 0 : im;
      }
    }
  };

  // One batch ahead: records and strengths; two ahead: indices.
  const count last = task.stop - 1;
  Record record = nufft_load(records, min(task.start + lane, last));
  real2 strength = __ldg(strengths + __ldg(index + min(task.start + lane, last)));
  count next_index = __ldg(index + min(task.start + 32 + lane, last));
  dev_wait_earlier();  // for the clear grid
  for (count first = task.start; first < task.stop; first += 32) {
    const int n = task.stop - first < 32 ? static_cast<int>(task.stop - first) : 32;
    const Located p = nufft_unpack(record, x0, y0, 0);
    const real2 c = strength;
    if (first + 32 < task.stop) {
      record = nufft_load(records, min(first + 32 + lane, last));
      strength = __ldg(strengths + next_index);
      next_index = __ldg(index + min(first + 64 + lane, last));
    }
    const int my_z = p.cell[2];
    real* own = stage + lane * NUFFT_STAGE;
    float v[8];
    nufft_weights_of_eight<false>(v, p.z[0], p.cell[0] - x0);
    nufft_put_eight(own + NUFFT_ALONG_X, v);
    nufft_weights_of_eight<false>(v, p.z[1], p.cell[1] - y0);
    nufft_put_eight(own + NUFFT_ALONG_Y, v);
    nufft_weights_of_eight<true>(v, p.z[2], my_z);
#pragma unroll
    for (int s = 0; s < 8; s += 2)
      reinterpret_cast<float4*>(own)[s / 2] = make_float4(v[s] * c.x, v[s] * c.y, v[s + 1] * c.x, v[s + 1] * c.y);
    __syncwarp();
    for (int j = 0; j < n;) {
      const int lowest = __shfl_sync(0xffffffffu, my_z, j);
      if (lowest - z > NUFFT_SPAN) {
        finish(lowest);
        z = lowest;
      }
      const bool fits = lane >= j && lane < min(j + 8, n) && my_z - z <= NUFFT_SPAN;
      const int points = __popc(__ballot_sync(0xffffffffu, fits));
      // Two of the points, `part` and the fourth after it; those that are not there have no value.
      const real* near = stage + min(j + part, 31) * NUFFT_STAGE;
      const real* far = stage + min(j + part + 4, 31) * NUFFT_STAGE;
      Right values[2];
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const float one = near[8 * half + eighth], other = far[8 * half + eighth];
        nufft_split(part < points ? one : 0, values[half].high[0], values[half].low[0]);
        nufft_split(part + 4 < points ? other : 0, values[half].high[1], values[half].low[1]);
      }
      const float near_x = near[NUFFT_ALONG_X + eighth], far_x = far[NUFFT_ALONG_X + eighth];
      float near_y[8], far_y[8];
      nufft_take_eight(near_y, near + NUFFT_ALONG_Y);
      nufft_take_eight(far_y, far + NUFFT_ALONG_Y);
#pragma unroll
      for (int r = 0; r < NUFFT_TY / 2; ++r) {  // two rows of cells
        Left weights;
#pragma unroll
        for (int k = 0; k < 2; ++k) {
          nufft_split(near_x * near_y[2 * r + k], weights.high[k], weights.low[k]);
          nufft_split(far_x * far_y[2 * r + k], weights.high[2 + k], weights.low[2 + k]);
        }
        nufft_add_rounded(sum[r][0], weights, values[0]);
        nufft_add_rounded(sum[r][1], weights, values[1]);
      }
      j += points;
    }
    __syncwarp();
  }
  finish(z + 8);
}
