// Interpolation, register windows: the mirror of nufft_spread_window.cuh. The block's tile of TX x TY cells times PLANES
// planes is held in registers, CELLS cells a lane; sliding along the last dimension replaces the lowest plane by the next
// one, which was read one step ahead. Every lane sums its cells for each of NUFFT_AT_ONCE points into shared memory; then
// 32 / NUFFT_AT_ONCE lanes sum up a point. Few points at once take little memory, so that more blocks run.
//
// Staged numbers of a point: PLANES weights of the last dimension in the rotation of the registers, TX of x, TY of y.
#define NUFFT_THREADS (32 * NUFFT_WARPS)
#define NUFFT_SHARES (32 / NUFFT_AT_ONCE)   // lanes that sum up a point
#define NUFFT_PART_ROW (32 + NUFFT_SHARES)  // sums of a point's lanes, without bank conflicts

NUFFT_DEVICE void nufft_block_sync() {
#if NUFFT_WARPS == 1
  __syncwarp();
#else
  __syncthreads();
#endif
}

template <int cells>
NUFFT_DEVICE void nufft_stage_row(real* row, int from, const real* weights) {
#pragma unroll
  for (int k = 0; k < cells; ++k) row[k] = 0;
#pragma unroll
  for (int k = 0; k < NUFFT_W; ++k) row[from + k] = weights[k];
}

extern "C" __global__ void __launch_bounds__(NUFFT_THREADS NUFFT_MIN_BLOCKS)
    NUFFT_ENTRY(const Record* __restrict__ records, const count* __restrict__ index, const Task* __restrict__ tasks,
                const count* __restrict__ task_total, const real2* __restrict__ grid, real2* __restrict__ values,
                long long m, const Distances distances) {
  NUFFT_SHARED(real, stage);
  if (blockIdx.x >= *task_total) return dev_follow();
  const Task task = tasks[blockIdx.x];
  values += blockIdx.y * distances.values;
  grid += blockIdx.y * distances.grid;
  const int lane = static_cast<int>(threadIdx.x & 31);
  const int warp = NUFFT_WARPS == 1 ? 0 : static_cast<int>(threadIdx.x >> 5);
  real2* part = reinterpret_cast<real2*>(stage + 32 * NUFFT_STAGE) + warp * NUFFT_AT_ONCE * NUFFT_PART_ROW;
#if NUFFT_WARPS > 1
  real2* sums = reinterpret_cast<real2*>(stage + 32 * NUFFT_STAGE) + NUFFT_WARPS * NUFFT_AT_ONCE * NUFFT_PART_ROW;
#endif
  const Corner origin = nufft_corner(task);
  const int x0 = origin.x, y0 = origin.y;
  int at_x[NUFFT_CELLS], at_y[NUFFT_CELLS];
  int cell[NUFFT_CELLS];  // offset in a plane of the grid; -1: none
#pragma unroll
  for (int i = 0; i < NUFFT_CELLS; ++i) {
    const int s = static_cast<int>(threadIdx.x) + NUFFT_THREADS * i;
    const bool mine = s < NUFFT_TX * NUFFT_TY;
    const int x = mine ? s % NUFFT_TX : 0, y = mine ? s / NUFFT_TX : 0;
    at_x[i] = NUFFT_WEIGHTS + x;
    at_y[i] = NUFFT_WEIGHTS + NUFFT_TX + y;
    const bool reached = mine && x0 + x < NUFFT_N0 + NUFFT_W - 1 && (NUFFT_DIM < 3 || y0 + y < NUFFT_N1 + NUFFT_W - 1);
    cell[i] = reached ? nufft_wrap(y0 + y, NUFFT_DIM < 3 ? 1 : NUFFT_N1) * NUFFT_N0 + nufft_wrap(x0 + x, NUFFT_N0) : -1;
  }
  real2 value[NUFFT_CELLS][NUFFT_PLANES], ahead[NUFFT_CELLS];
  const auto read = [&](int i, int plane) {
    const real2* from = grid + static_cast<long long>(nufft_wrap(plane, NUFFT_PERIOD)) * NUFFT_PLANE_CELLS;
    return cell[i] >= 0 ? __ldg(from + cell[i]) : nufft_zero();
  };
  int z = -NUFFT_PLANES, slot = 0;  // lowest plane kept, its registers
#pragma unroll
  for (int i = 0; i < NUFFT_CELLS; ++i) {
    ahead[i] = nufft_zero();
#pragma unroll
    for (int r = 0; r < NUFFT_PLANES; ++r) value[i][r] = nufft_zero();
  }

  const count last = task.stop - 1;
  Record record = nufft_load(records, min(task.start + lane, last));
  dev_follow();  // for the grid
  for (count first = task.start; first < task.stop; first += 32) {
    const int n = task.stop - first < 32 ? static_cast<int>(task.stop - first) : 32;
    const Located p = nufft_unpack(record, x0, y0, 0);
    const count mine = __ldg(index + min(first + lane, last));
    if (first + 32 < task.stop) record = nufft_load(records, min(first + 32 + lane, last));
    const int my_z = NUFFT_PLANES > 1 ? p.cell[NUFFT_DIM - 1] : 0;
    const int below = __shfl_up_sync(0xffffffffu, my_z, 1);
    const unsigned heads = __ballot_sync(0xffffffffu, lane < n && (lane == 0 || my_z != below));
    if (lane < n) {
      real* to = stage + lane * NUFFT_STAGE;
      real v[NUFFT_W];
      if (warp == 0) {
        nufft_window(p.z[0], v);
        nufft_stage_row<NUFFT_TX>(to + NUFFT_WEIGHTS, p.cell[0] - x0, v);
      }
#if NUFFT_DIM == 3
      if (warp == 1 % NUFFT_WARPS) {
        nufft_window(p.z[1], v);
        nufft_stage_row<NUFFT_TY>(to + NUFFT_WEIGHTS + NUFFT_TX, p.cell[1] - y0, v);
      }
#endif
      if (warp == 2 % NUFFT_WARPS) {
#pragma unroll
        for (int k = NUFFT_PLANES; k < NUFFT_WEIGHTS; ++k) to[k] = 0;
#if NUFFT_DIM > 1
        nufft_window(p.z[NUFFT_DIM - 1], v);
        int r = my_z % NUFFT_PLANES;
#pragma unroll
        for (int k = 0; k < NUFFT_W; ++k) {
          to[r] = v[k];
          r = r + 1 == NUFFT_PLANES ? 0 : r + 1;
        }
#else
        to[0] = 1;
#endif
      }
    }
    nufft_block_sync();
    int j = 0;
#pragma unroll 1
    for (int from = 0; from < n; from += NUFFT_AT_ONCE) {
      const int until = min(from + NUFFT_AT_ONCE, n);
      while (j < until) {
        const int to_z = __shfl_sync(0xffffffffu, my_z, j);
        if (to_z - z >= NUFFT_PLANES) {
          z = to_z;
          slot = z % NUFFT_PLANES;
#pragma unroll
          for (int r = 0; r < NUFFT_PLANES; ++r)
#pragma unroll
            for (int i = 0; i < NUFFT_CELLS; ++i) value[i][r] = read(i, z + (r - slot + NUFFT_PLANES) % NUFFT_PLANES);
#pragma unroll
          for (int i = 0; i < NUFFT_CELLS; ++i)
            if (NUFFT_PLANES > 1) ahead[i] = read(i, z + NUFFT_PLANES);
        }
        for (; z != to_z; ++z) {
#pragma unroll
          for (int r = 0; r < NUFFT_PLANES; ++r) {
            if (r != slot) continue;
#pragma unroll
            for (int i = 0; i < NUFFT_CELLS; ++i) value[i][r] = ahead[i];
          }
          slot = slot + 1 == NUFFT_PLANES ? 0 : slot + 1;
#pragma unroll
          for (int i = 0; i < NUFFT_CELLS; ++i) ahead[i] = read(i, z + 1 + NUFFT_PLANES);
        }
        const unsigned rest = heads & ~((2u << j) - 1);
        const int end = min(rest != 0 ? __ffs(static_cast<int>(rest)) - 1 : n, until);
#pragma unroll NUFFT_UNROLL
        for (; j < end; ++j) {
          const real* row = stage + j * NUFFT_STAGE;
          real2 along[NUFFT_CELLS], sum = nufft_zero();
#pragma unroll
          for (int i = 0; i < NUFFT_CELLS; ++i) along[i] = nufft_zero();
#if NUFFT_DOUBLE
#pragma unroll
          for (int r = 0; r < NUFFT_PLANES; r += 2) {
            const double2 w = reinterpret_cast<const double2*>(row)[r / 2];
#pragma unroll
            for (int i = 0; i < NUFFT_CELLS; ++i) {
              nufft_add(along[i], w.x, value[i][r]);
              if (r + 1 < NUFFT_PLANES) nufft_add(along[i], w.y, value[i][(r + 1) % NUFFT_PLANES]);
            }
          }
#else
#pragma unroll
          for (int r = 0; r < NUFFT_PLANES; r += 4) {
            const float4 w = reinterpret_cast<const float4*>(row)[r / 4];  // weights past PLANES are not used
#pragma unroll
            for (int i = 0; i < NUFFT_CELLS; ++i) {
              nufft_add(along[i], w.x, value[i][r]);
              if (r + 1 < NUFFT_PLANES) nufft_add(along[i], w.y, value[i][(r + 1) % NUFFT_PLANES]);
              if (r + 2 < NUFFT_PLANES) nufft_add(along[i], w.z, value[i][(r + 2) % NUFFT_PLANES]);
              if (r + 3 < NUFFT_PLANES) nufft_add(along[i], w.w, value[i][(r + 3) % NUFFT_PLANES]);
            }
          }
#endif
#pragma unroll
          for (int i = 0; i < NUFFT_CELLS; ++i) {
            real weight = row[at_x[NUFFT_SAME_X ? 0 : i]];
#if NUFFT_DIM == 3
            weight *= row[at_y[i]];
#endif
            nufft_add(sum, weight, along[i]);
          }
          part[(j - from) * NUFFT_PART_ROW + lane] = sum;
        }
      }
      nufft_block_sync();
      const int of = lane / NUFFT_SHARES;
      real2 sum = nufft_zero();
      if (from + of < until) {
        const real2* row = part + of * NUFFT_PART_ROW + lane % NUFFT_SHARES;
#pragma unroll 8
        for (int k = 0; k < 32; k += NUFFT_SHARES) {
          sum.x += row[k].x;
          sum.y += row[k].y;
        }
      }
#pragma unroll
      for (int step = 1; step < NUFFT_SHARES; step *= 2) {
        sum.x += __shfl_xor_sync(0xffffffffu, sum.x, step);
        sum.y += __shfl_xor_sync(0xffffffffu, sum.y, step);
      }
#if NUFFT_WARPS == 1
      const count to = __shfl_sync(0xffffffffu, mine, from + of);
      if (lane % NUFFT_SHARES == 0 && from + of < until) values[to] = sum;
#else
      if (lane % NUFFT_SHARES == 0) sums[warp * NUFFT_AT_ONCE + of] = sum;
#endif
      nufft_block_sync();
#if NUFFT_WARPS > 1
      const count to = __shfl_sync(0xffffffffu, mine, (from + lane) & 31);
      if (warp == 0 && from + lane < until) {
        sum = nufft_zero();
        for (int k = 0; k < NUFFT_WARPS; ++k) {
          sum.x += sums[k * NUFFT_AT_ONCE + lane].x;
          sum.y += sums[k * NUFFT_AT_ONCE + lane].y;
        }
        values[to] = sum;
      }
#endif
    }
  }
}
