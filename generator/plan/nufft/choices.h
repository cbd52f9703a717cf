// What there is to choose about the nonuniform stages on a GPU: part of a plan (generator/plan/gpu_plan.h), bound by
// kernels.h.
#pragma once

#include <array>

namespace fourtune::generator::nufft {

enum class Order {
  caller,  // records in the caller's order
  bins,    // bins in the order of the grid, x fastest
  slide,   // bins along the last dimension lie together: what Spread::window needs; 1D: the same as bins
};
// How sorted records come about; all give the same ones.
enum class Placement {
  scatter,    // each point writes its record to its place
  fetch,      // indices are scattered, coordinates fetched through them
  staged,     // records are written in the caller's order, indices scattered, records fetched: needs kScratch
  two_level,  // coarse bins, then each sorted in shared memory (templates/nufft_sort.cuh): needs kScratch
};
enum class Spread {
  points,       // global reductions, `lanes` lanes a point (one: one thread per point, cuFINUFFT's GM and GM-sort)
  tile_atomic,  // padded bin in shared memory, atomic adds there (cuFINUFFT's SM)
  tile_owned,   // the same, output-driven: one warp, lanes own cells of the stencil, no atomics and no block barrier
  window,       // register windows: templates/nufft_spread_window.cuh
};
enum class Interpolate {
  points,  // through the caches, `lanes` lanes a point
  tiled,   // padded bin in shared memory, `lanes` lanes a point
  window,  // register windows: templates/nufft_interpolate_window.cuh
  matrix,  // matrix units of double precision: templates/nufft_interpolate_matrix.cuh (2D), _planes.cuh (3D)
};

struct Parameters {
  Order order = Order::slide;
  std::array<int, 3> bin{3, 3, 1};  // cells a side
  int cap = 1024;                   // most points of a subproblem
  int lanes = 8;                    // per point: 1, 2, 4, 8 or 16
  int warps = 1;                    // of a block: window (they share the tile), tile_atomic, tiled
  int min_blocks = 0;               // per multiprocessor, a promise to the compiler; 0: none
  int unroll = 2;                   // of the loop over points: window
  int run = 1;                      // spreading, f32: 2 adds aligned pairs of x cells at once (points, window); needs
                                    // even rows, and even bins in x for window
  int split = 1;                    // spreading, window: points that the parts of a warp take at once, 1 or 2
  int group = 1;            // transforms of a batch that share a point's weights: 1, 2, 4, ... 32 (f64: 16); not
                            // window, tile_atomic. Their grids are interleaved (kernels.h)
  bool interleave = false;  // groups: values pass through an interleaved copy, so that points far apart in the
                            // caller's order are read or written in whole sectors
  bool fold = false;        // spreading, window: strengths go into the weights of x and y, not of the planes
  Placement placement = Placement::scatter;
  // Points in the caller's order that are sorted together, apart from the others; 0: all. What the kernels read or
  // write through the index then stays in a cache that holds a slice's values.
  int slice = 0;
  // two_level: points that a block sorts at a time, a multiple of 512; 0: what fits well, and few bins need one level
  int segment = 0;
  // Spreading: sums in 64-bit fixed point, the same bits whatever the order of points and blocks. Not window; run 1.
  bool deterministic = false;
  bool check = true;  // look for coordinates that are not finite
  friend bool operator==(const Parameters&, const Parameters&) = default;
};

}  // namespace fourtune::generator::nufft
