// Interpolation of several transforms at once (nufft_group.cuh). 32 lanes evaluate the weights of 32 points into shared
// memory, once for all transforms. Then NUFFT_MEMBERS lanes, eight or more, serve a point: NUFFT_SIDES cells side by side
// along x, so that they read 128 bytes that lie together and eight lanes never meet in a bank. NUFFT_TILED: from a
// padded bin in shared memory, one subproblem a block; else through the caches. Results take the place of the weights
// and leave transform by transform, 32 points together, or go
// piece by piece to an interleaved copy.
// Staged numbers of a point: weights, then (tiled) its place in the tile, or its first cell.
#define NUFFT_MEMBERS (NUFFT_PIECES * NUFFT_SIDES)
#define NUFFT_ALONG ((NUFFT_W + NUFFT_SIDES - 1) / NUFFT_SIDES)  // cells of a lane along x

// A lane's sum over its cells; cell(a, b, k): cell k along x of row b of plane a.
template <class Cell>
NUFFT_DEVICE Piece nufft_sum_cells(const real* from, int side, Cell cell) {
  real wy[NUFFT_WY];
#pragma unroll
  for (int b = 0; b < NUFFT_WY; ++b) wy[b] = NUFFT_DIM > 1 ? from[NUFFT_W + b] : 1;
  Piece sum = nufft_no_piece();
#if NUFFT_DIM == 3
#pragma unroll 1
#else
#pragma unroll
#endif
  for (int i = 0; i < NUFFT_ALONG; ++i) {
    const int k = side + NUFFT_SIDES * i;
    if (NUFFT_W % NUFFT_SIDES != 0 && k >= NUFFT_W) continue;
    Piece column = nufft_no_piece();
#pragma unroll NUFFT_UNROLL
    for (int a = 0; a < NUFFT_WZ; ++a) {
      Piece row = nufft_no_piece();
#pragma unroll
      for (int b = 0; b < NUFFT_WY; ++b) nufft_add_piece(row, wy[b], cell(a, b, k));
      nufft_add_piece(column, NUFFT_DIM > 2 ? from[2 * NUFFT_W + a] : 1, row);
    }
    nufft_add_piece(sum, from[k], column);
  }
  return sum;
}

extern "C" __global__ void __launch_bounds__(NUFFT_THREADS)
    NUFFT_ENTRY(const Record* __restrict__ records, const count* __restrict__ index,
#if NUFFT_TILED
                const Task* __restrict__ tasks, const count* __restrict__ task_total,
#endif
                const Piece* __restrict__ grid, Value* __restrict__ values, long long m, const Distances distances) {
  dev_follow();
  NUFFT_SHARED(Piece, shared);
  const int lane = static_cast<int>(threadIdx.x & 31), warp = static_cast<int>(threadIdx.x >> 5);
#if !NUFFT_INTERLEAVED
  values += blockIdx.y * distances.values * NUFFT_GROUP;
#endif
  grid += blockIdx.y * distances.grid;
#if NUFFT_TILED
  if (blockIdx.x >= *task_total) return;
  const Task task = tasks[blockIdx.x];
  const Corner origin = nufft_corner(task);
  const int x0 = origin.x, y0 = origin.y, z0 = origin.z;
  for (int i = static_cast<int>(threadIdx.x); i < NUFFT_TILE_PIECES; i += NUFFT_THREADS) {
    const long long from = nufft_tile_piece(i, x0, y0, z0);
    if (from >= 0)
      nufft_copy(shared + i, grid + from);
    else
      shared[i] = nufft_no_piece();
  }
  const count begin = task.start, stop = task.stop;
  real* stage = reinterpret_cast<real*>(shared + NUFFT_TILE_PIECES) + warp * 32 * NUFFT_STAGE;
  bool loading = true;
#else
  constexpr int x0 = 0, y0 = 0, z0 = 0;  // records hold whole cells
  const count begin = static_cast<count>(blockIdx.x) * NUFFT_THREADS;
  const count stop = m - begin < NUFFT_THREADS ? static_cast<count>(m) : begin + NUFFT_THREADS;
  real* stage = reinterpret_cast<real*>(shared) + warp * 32 * NUFFT_STAGE;
  bool loading = false;
#endif
  const int part = lane % NUFFT_PIECES, side = lane / NUFFT_PIECES % NUFFT_SIDES;
  for (count first = begin + warp * 32; first < stop || loading; first += NUFFT_THREADS) {
    const int n = first >= stop ? 0 : stop - first < 32 ? static_cast<int>(stop - first) : 32;
    count mine = 0;
    if (lane < n) {
      const Located p = nufft_unpack(nufft_load(records, first + lane), x0, y0, z0);
      mine = __ldg(index + first + lane);
      real* to = stage + lane * NUFFT_STAGE;
      nufft_stage_point(p, to);
#if NUFFT_TILED
      *reinterpret_cast<int*>(to + NUFFT_DIM * NUFFT_W) =
          (((p.cell[2] - z0) * NUFFT_PY + p.cell[1] - y0) * NUFFT_PX + p.cell[0] - x0) * NUFFT_PIECES;
#else
#pragma unroll
      for (int d = 0; d < NUFFT_DIM; ++d) *reinterpret_cast<int*>(to + NUFFT_DIM * NUFFT_W + d) = p.cell[d];
#endif
    }
    if (loading) {
      nufft_copied();
      __syncthreads();
      loading = false;
    } else {
      __syncwarp();
    }
    for (int base = 0; base < n; base += 32 / NUFFT_MEMBERS) {  // all lanes stay together for the shuffles
      const int j = min(base + lane / NUFFT_MEMBERS, n - 1);
      const real* from = stage + j * NUFFT_STAGE;
#if NUFFT_TILED
      const Piece* corner = shared + *reinterpret_cast<const int*>(from + NUFFT_DIM * NUFFT_W) + part;
      Piece sum = nufft_sum_cells(
          from, side, [&](int a, int b, int k) { return corner[((a * NUFFT_PY + b) * NUFFT_PX + k) * NUFFT_PIECES]; });
#else
      int cell[3] = {0, 0, 0};
#pragma unroll
      for (int d = 0; d < NUFFT_DIM; ++d) cell[d] = *reinterpret_cast<const int*>(from + NUFFT_DIM * NUFFT_W + d);
      const auto at = [&](int x, int y, int z) {
        return grid + ((static_cast<long long>(z) * NUFFT_N1 + y) * NUFFT_N0 + x) * NUFFT_PIECES + part;
      };
      const bool inside = cell[0] + NUFFT_W <= NUFFT_N0 && (NUFFT_DIM < 2 || cell[1] + NUFFT_W <= NUFFT_N1) &&
                          (NUFFT_DIM < 3 || cell[2] + NUFFT_W <= NUFFT_N2);
      Piece sum;
      if (inside) {
        const Piece* corner = at(cell[0], cell[1], cell[2]);
        sum = nufft_sum_cells(from, side, [&](int a, int b, int k) {
          return __ldg(corner + ((a * static_cast<long long>(NUFFT_N1) + b) * NUFFT_N0 + k) * NUFFT_PIECES);
        });
      } else {
        sum = nufft_sum_cells(from, side, [&](int a, int b, int k) {
          return __ldg(at(nufft_wrap(cell[0] + k, NUFFT_N0), NUFFT_DIM > 1 ? nufft_wrap(cell[1] + b, NUFFT_N1) : 0,
                          NUFFT_DIM > 2 ? nufft_wrap(cell[2] + a, NUFFT_N2) : 0));
        });
      }
      __syncwarp();
#endif
#pragma unroll
      for (int step = NUFFT_PIECES; step < NUFFT_MEMBERS; step *= 2) {
        sum.x += __shfl_xor_sync(0xffffffffu, sum.x, step);
        sum.y += __shfl_xor_sync(0xffffffffu, sum.y, step);
#if !NUFFT_DOUBLE
        sum.z += __shfl_xor_sync(0xffffffffu, sum.z, step);
        sum.w += __shfl_xor_sync(0xffffffffu, sum.w, step);
#endif
      }
#if NUFFT_INTERLEAVED
      const count to = __shfl_sync(0xffffffffu, mine, j);
      if (side == 0 && base + lane / NUFFT_MEMBERS < n) values[static_cast<long long>(to) * NUFFT_PIECES + part] = sum;
    }
    __syncwarp();
#else
      __syncwarp();  // everything of these points is read
      if (side == 0 && base + lane / NUFFT_MEMBERS < n) reinterpret_cast<Piece*>(stage + j * NUFFT_STAGE)[part] = sum;
    }
    __syncwarp();
    if (lane < n) {
      const Piece* results = reinterpret_cast<const Piece*>(stage + lane * NUFFT_STAGE);
#pragma unroll
      for (int i = 0; i < NUFFT_PIECES; ++i)
        nufft_scatter_piece(values + i * NUFFT_EACH * distances.values + mine, distances.values, results[i]);
    }
    __syncwarp();
#endif
  }
}
