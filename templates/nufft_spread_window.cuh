// Spreading, register windows. A block of NUFFT_WARPS warps owns a padded tile of TX x TY cells (3D: x and y; 2D and 1D:
// x) and slides along the last dimension through points sorted by that dimension's cell. Each lane keeps CELLS cells of
// the tile times PLANES planes in registers; plane z lives in the registers of slot z % PLANES, and a point's weights
// of that dimension are staged in the same rotation, so that nothing moves. A plane that no later point can reach is
// added to the grid. 1D does not slide: one plane, the weight of which is the strength.
//
// NUFFT_SPLIT: that many groups of lanes of one warp own the whole tile each and take a point each (of one lowest plane);
// their sums meet when a plane is finished. NUFFT_COMPACT (2D): the w weights of x are staged with their place, not
// spread out over the tile.
//
// NUFFT_RUN: cells side by side that a lane owns; two of them leave in one 16-byte reduction (single precision, even
// origins). Staged numbers of a point (NUFFT_WEIGHTS of them before x): PLANES complex, strength times weight, or, NUFFT_FOLD, weights
// and the strength, which is multiplied into the weights of x and y; then TX weights of x and TY of y, zero where the
// window does not reach. One lane evaluates a point.
#define NUFFT_THREADS (32 * NUFFT_WARPS)
#define NUFFT_MEMBERS (NUFFT_THREADS / NUFFT_SPLIT)  // lanes that own the tile
#define NUFFT_STRENGTH (NUFFT_WEIGHTS - 2)           // NUFFT_FOLD: where a strength is staged
#define NUFFT_COMPACT (NUFFT_DIM == 2 && NUFFT_RUN == 1)

NUFFT_DEVICE void nufft_block_sync() {
#if NUFFT_WARPS == 1
  __syncwarp();
#else
  __syncthreads();
#endif
}

// Writes the weights of a window whose first cell is `from` the tile's first, zeros elsewhere.
template <int cells>
NUFFT_DEVICE void nufft_stage_row(real* row, int from, const real* weights) {
#pragma unroll
  for (int k = 0; k < cells; ++k) row[k] = 0;
#pragma unroll
  for (int k = 0; k < NUFFT_W; ++k) row[from + k] = weights[k];
}

extern "C" __global__ void __launch_bounds__(NUFFT_THREADS NUFFT_MIN_BLOCKS)
    NUFFT_ENTRY(const Record* __restrict__ records, const count* __restrict__ index, const Task* __restrict__ tasks,
                const count* __restrict__ task_total, const real2* __restrict__ strengths, real2* __restrict__ grid,
                const Distances distances) {
  NUFFT_SHARED(real, stage);
  if (blockIdx.x >= *task_total) return dev_wait_earlier();
  const Task task = tasks[blockIdx.x];
  strengths += blockIdx.y * distances.values;
  grid += blockIdx.y * distances.grid;
  const int lane = static_cast<int>(threadIdx.x & 31);
  const int warp = NUFFT_WARPS == 1 ? 0 : static_cast<int>(threadIdx.x >> 5);

  const int group = NUFFT_SPLIT == 1 ? 0 : lane / (32 / NUFFT_SPLIT);
  // This lane's cells.
  const Corner origin = nufft_corner(task);
  const int x0 = origin.x, y0 = origin.y;
  int at_x[NUFFT_CELLS], at_y[NUFFT_CELLS];
  int cell[NUFFT_CELLS];  // offset in a plane of the grid; -1: none
#pragma unroll
  for (int i = 0; i < NUFFT_CELLS; ++i) {
    const int s = (static_cast<int>(threadIdx.x) % NUFFT_MEMBERS + NUFFT_MEMBERS * (i / NUFFT_RUN)) * NUFFT_RUN;
    const bool mine = s < NUFFT_TX * NUFFT_TY;
    const int x = (mine ? s % NUFFT_TX : 0) + i % NUFFT_RUN, y = mine ? s / NUFFT_TX : 0;
    at_x[i] = NUFFT_COMPACT ? x : NUFFT_WEIGHTS + x;
    at_y[i] = NUFFT_WEIGHTS + NUFFT_TX + y;
    // A run is kept or left out as a whole; what is past the reach of a cut bin stays zero.
    const bool reached =
        mine && x0 + x - i % NUFFT_RUN < NUFFT_N0 + NUFFT_W - 1 && (NUFFT_DIM < 3 || y0 + y < NUFFT_N1 + NUFFT_W - 1);
    cell[i] = reached ? nufft_wrap(y0 + y, NUFFT_DIM < 3 ? 1 : NUFFT_N1) * NUFFT_N0 + nufft_wrap(x0 + x, NUFFT_N0) : -1;
  }
  real2 sum[NUFFT_CELLS][NUFFT_PLANES];
#pragma unroll
  for (int i = 0; i < NUFFT_CELLS; ++i)
#pragma unroll
    for (int r = 0; r < NUFFT_PLANES; ++r) sum[i][r] = nufft_zero();

  int z = 0, slot = 0, live = 0;  // lowest plane kept, its registers, planes that may be nonzero
  const auto flush = [&](int which, int plane) {
    real2* to = grid + static_cast<long long>(nufft_wrap(plane, NUFFT_PERIOD)) * NUFFT_PLANE_CELLS;
#pragma unroll
    for (int r = 0; r < NUFFT_PLANES; ++r) {
      if (r != which) continue;
#pragma unroll
      for (int i = 0; i < NUFFT_CELLS; i += NUFFT_RUN) {
#if NUFFT_RUN == 2
        const real2 a = sum[i][r], b = sum[i + 1][r];
        if (cell[i] >= 0 && (a.x != 0 || a.y != 0 || b.x != 0 || b.y != 0)) dev_add_pair(to + cell[i], a, b);
        sum[i + 1][r] = nufft_zero();
#else
        real2 value = sum[i][r];
#pragma unroll
        for (int step = 32 / NUFFT_SPLIT; step < 32; step *= 2) {
          value.x += __shfl_xor_sync(0xffffffffu, value.x, step);
          value.y += __shfl_xor_sync(0xffffffffu, value.y, step);
        }
        if (group == 0 && cell[i] >= 0 && (value.x != 0 || value.y != 0)) dev_add(to + cell[i], value);
#endif
        sum[i][r] = nufft_zero();
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
    const int my_z = NUFFT_PLANES > 1 ? p.cell[NUFFT_DIM - 1] : 0;
    const int below = __shfl_up_sync(0xffffffffu, my_z, 1);
    const unsigned heads = __ballot_sync(0xffffffffu, lane < n && (lane == 0 || my_z != below));
    if (lane < n) {
      real* to = stage + lane * NUFFT_STAGE;
      real v[NUFFT_W];
      if (warp == 0) {
        nufft_window(p.z[0], v);
#if NUFFT_COMPACT
#pragma unroll
        for (int k = 0; k < NUFFT_W; ++k) to[NUFFT_WEIGHTS + k] = v[k];
        *reinterpret_cast<int*>(to + NUFFT_WEIGHTS + NUFFT_W) = p.cell[0] - x0;
#else
        nufft_stage_row<NUFFT_TX>(to + NUFFT_WEIGHTS, p.cell[0] - x0, v);
#endif
      }
#if NUFFT_DIM == 3
      if (warp == 1 % NUFFT_WARPS) {
        nufft_window(p.z[1], v);
        nufft_stage_row<NUFFT_TY>(to + NUFFT_WEIGHTS + NUFFT_TX, p.cell[1] - y0, v);
      }
#endif
      if (warp == 2 % NUFFT_WARPS) {
#if NUFFT_FOLD
#pragma unroll
        for (int k = NUFFT_PLANES; k < NUFFT_STRENGTH; ++k) to[k] = 0;
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
        *reinterpret_cast<real2*>(to + NUFFT_STRENGTH) = c;
#else
        real2* planes = reinterpret_cast<real2*>(to);
#if NUFFT_DIM > 1
        nufft_window(p.z[NUFFT_DIM - 1], v);
        int r = my_z % NUFFT_PLANES;
#pragma unroll
        for (int k = 0; k < NUFFT_W; ++k) {
          planes[r] = nufft_scaled(v[k], c);
          r = r + 1 == NUFFT_PLANES ? 0 : r + 1;
        }
#else
        planes[0] = c;
#endif
#endif
      }
    }
    nufft_block_sync();
    int j = 0;
    while (j < n) {
      const int to_z = __shfl_sync(0xffffffffu, my_z, j);
      while (z != to_z) {
        if (live == 0) {
          z = to_z;
          slot = z % NUFFT_PLANES;
          break;
        }
        flush(slot, z);
        slot = slot + 1 == NUFFT_PLANES ? 0 : slot + 1;
        ++z;
        --live;
      }
      live = NUFFT_PLANES;
      const unsigned rest = heads & ~((2u << j) - 1);
      const int end = rest != 0 ? __ffs(static_cast<int>(rest)) - 1 : n;
#pragma unroll NUFFT_UNROLL
      for (; j < end; j += NUFFT_SPLIT) {
        const bool active = NUFFT_SPLIT == 1 || j + group < end;
        const real* from = stage + (active ? j + group : j) * NUFFT_STAGE;
#if NUFFT_COMPACT
        const int shift = *reinterpret_cast<const int*>(from + NUFFT_WEIGHTS + NUFFT_W);
#endif
        real weight[NUFFT_CELLS];
#pragma unroll
        for (int i = 0; i < NUFFT_CELLS; i += NUFFT_RUN) {
#if NUFFT_RUN == 2
          const real2 both = *reinterpret_cast<const real2*>(from + at_x[NUFFT_SAME_X ? 0 : i]);
          const real wy = NUFFT_DIM == 3 ? from[at_y[i]] : 1;
          weight[i] = both.x * wy;
          weight[i + 1] = both.y * wy;
#elif NUFFT_COMPACT
          const int k = at_x[i] - shift;
          weight[i] = active && static_cast<unsigned>(k) < NUFFT_W ? from[NUFFT_WEIGHTS + k] : 0;
#else
          weight[i] = active ? from[at_x[NUFFT_SAME_X ? 0 : i]] : 0;
#if NUFFT_DIM == 3
          weight[i] *= from[at_y[i]];
#endif
#endif
        }
#if NUFFT_FOLD
        // Weight of x and y times strength, then along the planes.
        const real2 c = *reinterpret_cast<const real2*>(from + NUFFT_STRENGTH);
        real2 value[NUFFT_CELLS];
#pragma unroll
        for (int i = 0; i < NUFFT_CELLS; ++i) value[i] = nufft_scaled(weight[i], c);
#pragma unroll
        for (int r = 0; r < NUFFT_STRENGTH; r += 16 / static_cast<int>(sizeof(real))) {
#if NUFFT_DOUBLE
          const double2 some = *reinterpret_cast<const double2*>(from + r);
          const real w[2] = {some.x, some.y};
#else
          const float4 some = *reinterpret_cast<const float4*>(from + r);
          const real w[4] = {some.x, some.y, some.z, some.w};
#endif
#pragma unroll
          for (int k = 0; k < 16 / static_cast<int>(sizeof(real)); ++k) {
            if (r + k >= NUFFT_PLANES) break;
#pragma unroll
            for (int i = 0; i < NUFFT_CELLS; ++i) nufft_add(sum[i][(r + k) % NUFFT_PLANES], w[k], value[i]);
          }
        }
#elif NUFFT_DOUBLE || NUFFT_PLANES == 1
#pragma unroll
        for (int r = 0; r < NUFFT_PLANES; ++r) {
          const real2 value = reinterpret_cast<const real2*>(from)[r];
#pragma unroll
          for (int i = 0; i < NUFFT_CELLS; ++i) nufft_add(sum[i][r], weight[i], value);
        }
#else
#pragma unroll
        for (int r = 0; r < NUFFT_PLANES; r += 2) {
          const float4 pair = reinterpret_cast<const float4*>(from)[r / 2];  // an odd last one is read and not used
#pragma unroll
          for (int i = 0; i < NUFFT_CELLS; ++i) {
            nufft_add(sum[i][r], weight[i], make_float2(pair.x, pair.y));
            if (r + 1 < NUFFT_PLANES) nufft_add(sum[i][(r + 1) % NUFFT_PLANES], weight[i], make_float2(pair.z, pair.w));
          }
        }
#endif
      }
      j = end;
    }
    nufft_block_sync();
  }
#pragma unroll
  for (int r = 0; r < NUFFT_PLANES; ++r) {
    const int above = (r - slot + NUFFT_PLANES) % NUFFT_PLANES;
    if (above < live) flush(r, z + above);
  }
}
