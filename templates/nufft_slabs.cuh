// Points that move to the rank of their cell (runtime/distributed/gpu_moved_points.h). Pass 0: the first cell of every
// point along the last dimension, and how many points begin at each cell; the first index of a point that is not finite
// goes to *bad. Pass 1: lists points by where they go. Pass 2: packs values in the order of the list; pass 3 puts them
// back. Pass 4: packs into several arrays, some of which may be in the memory of other GPUs; pass 5 puts values back that
// lie in such arrays.
#if NUFFT_PASS == 0
extern "C" __global__ void __launch_bounds__(256)
    NUFFT_ENTRY(const Points points, const Maps maps, int* __restrict__ cells, unsigned long long* counts,
                unsigned long long* bad) {
  dev_follow();
#if NUFFT_HISTOGRAM
  NUFFT_SHARED(unsigned, histogram);
  for (int c = static_cast<int>(threadIdx.x); c < NUFFT_LAST; c += 256) histogram[c] = 0;
  __syncthreads();
#endif
  const long long step = static_cast<long long>(gridDim.x) * 256;
  for (long long i = static_cast<long long>(blockIdx.x) * 256 + threadIdx.x; i < points.m; i += step) {
    real at[NUFFT_DIM];
    nufft_read(at, points, i);
    const Placed p = nufft_cells(at, i, maps, bad);
    const int cell = p.cell[NUFFT_DIM - 1];
    cells[i] = cell;
#if NUFFT_HISTOGRAM
    atomicAdd(histogram + cell, 1u);
#else
    atomicAdd(counts + cell, 1ull);
#endif
  }
#if NUFFT_HISTOGRAM
  __syncthreads();
  for (int c = static_cast<int>(threadIdx.x); c < NUFFT_LAST; c += 256)
    if (histogram[c] != 0) atomicAdd(counts + c, static_cast<unsigned long long>(histogram[c]));
#endif
}
#elif NUFFT_PASS == 1
// Destinations of a cell: that of its slab, and that of another one which its points reach (-1: none). next: where the
// next points of each destination go in the list. A block asks for places once per destination.
extern "C" __global__ void __launch_bounds__(256)
    NUFFT_ENTRY(const int* __restrict__ cells, const int* __restrict__ owners, const int* __restrict__ neighbours,
                unsigned long long* next, unsigned* __restrict__ list, long long m) {
  dev_follow();
  NUFFT_SHARED(unsigned long long, base);
  unsigned* const held = reinterpret_cast<unsigned*>(base + NUFFT_DESTINATIONS);
  for (int b = static_cast<int>(threadIdx.x); b < NUFFT_DESTINATIONS; b += 256) held[b] = 0;
  __syncthreads();
  const long long first = static_cast<long long>(blockIdx.x) * (256 * NUFFT_ITEMS) + threadIdx.x;
  int to[2 * NUFFT_ITEMS];
  unsigned place[2 * NUFFT_ITEMS];
#pragma unroll
  for (int k = 0; k < NUFFT_ITEMS; ++k) {
    const long long i = first + k * 256;
    to[2 * k] = to[2 * k + 1] = -1;
    if (i >= m) continue;
    to[2 * k] = owners[cells[i]];
    to[2 * k + 1] = neighbours[cells[i]];
    place[2 * k] = atomicAdd(held + to[2 * k], 1u);
    if (to[2 * k + 1] >= 0) place[2 * k + 1] = atomicAdd(held + to[2 * k + 1], 1u);
  }
  __syncthreads();
  for (int b = static_cast<int>(threadIdx.x); b < NUFFT_DESTINATIONS; b += 256)
    base[b] = held[b] == 0 ? 0 : atomicAdd(next + b, static_cast<unsigned long long>(held[b]));
  __syncthreads();
#pragma unroll
  for (int k = 0; k < 2 * NUFFT_ITEMS; ++k)
    if (to[k] >= 0) list[base[to[k]] + place[k]] = static_cast<unsigned>(first + k / 2 * 256);
}
#elif NUFFT_PASS >= 4
// Items [begin, begin + count) of the list; begin -1: an array of so many pairs of doubles that becomes 0.
struct Piece {
  item* at;
  long long begin, count;
};
struct Pieces {
  Piece piece[NUFFT_PIECES];
};
// Blocks of all pieces run side by side, so that those that wait for a link leave the memory to the others.
extern "C" __global__ void __launch_bounds__(256)
    NUFFT_ENTRY(item* __restrict__ array, const unsigned* __restrict__ list, const Pieces pieces) {
  dev_follow();
  const Piece p = pieces.piece[blockIdx.x % NUFFT_PIECES];
  const long long step = static_cast<long long>(gridDim.x / NUFFT_PIECES) * 256;
  const long long first = static_cast<long long>(blockIdx.x / NUFFT_PIECES) * 256 + threadIdx.x;
#if NUFFT_PASS == 4
  if (p.begin < 0) {
    double2* const cleared = reinterpret_cast<double2*>(p.at);
    double2 none;
    none.x = none.y = 0;
    for (long long i = first; i < p.count; i += step) cleared[i] = none;
    return;
  }
  for (long long i = first; i < p.count; i += step) p.at[i] = array[list[p.begin + i]];
#else
  for (long long i = first; i < p.count; i += step) array[list[p.begin + i]] = p.at[i];
#endif
}
#else
extern "C" __global__ void __launch_bounds__(256)
    NUFFT_ENTRY(const item* __restrict__ from, const unsigned* __restrict__ list, item* __restrict__ to, long long n) {
  dev_follow();
  const long long step = static_cast<long long>(gridDim.x) * 256;
  for (long long i = static_cast<long long>(blockIdx.x) * 256 + threadIdx.x; i < n; i += step)
#if NUFFT_PASS == 2
    to[i] = from[list[i]];
#else
    to[list[i]] = from[i];
#endif
}
#endif
