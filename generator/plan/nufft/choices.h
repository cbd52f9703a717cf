// The choices for the nonuniform stages on a GPU: a part of a plan (generator/plan/gpu_plan.h) that kernels.h turns
// into kernels.
#pragma once

#include <array>
#include <cstddef>
#include <iterator>

namespace fourtune::generator::nufft {

enum class RecordOrder {
  caller,  // records in the caller's order
  bins,    // bins in the order of the grid, x fastest
  slide,   // bins along the last dimension are adjacent, as Spread::window needs; in 1D the same as bins
};
// How the sorted records are made; the result is the same for all.
enum class Placement {
  scatter,    // each point writes its record to its sorted place
  fetch,      // indices are scattered, then coordinates are fetched through them
  staged,     // records are written in the caller's order, indices are scattered, then records fetched; needs kScratch
  two_level,  // coarse bins first, then each is sorted in shared memory (templates/nufft_sort.cuh); needs kScratch
  index,      // no records: an index array alone is sorted, and kernels fold coordinates (published families only)
};
enum class Spread {
  points,       // reductions to the grid in global memory, `lanes` lanes per point (one: one thread per point, as in
                // cuFINUFFT's GM and GM-sort)
  tile_atomic,  // padded bin in shared memory with atomic additions, as in cuFINUFFT's SM
  tile_owned,   // output-driven: one warp whose lanes own cells of the stencil; no atomics, no block barriers
  window,       // register windows: templates/nufft_spread_window.cuh
  tf32x3,       // 3D, f32: register windows on the matrix units: templates/nufft_spread_tf32.cuh
  // As published in the paper on cuFINUFFT: templates/nufft_published.cuh.
  gm,       // one thread per point, in the caller's order, global atomics
  gm_sort,  // the same in the order of bins
  sm,       // one block per subproblem, padded bin in shared memory; stays the last one
};
enum class Interpolate {
  points,   // reads through the caches, `lanes` lanes per point
  tiled,    // padded bin in shared memory, `lanes` lanes per point
  window,   // register windows: templates/nufft_interpolate_window.cuh
  matrix,   // double-precision matrix units: templates/nufft_interpolate_matrix.cuh (2D), _planes.cuh (3D)
  tf32x3,   // 3D, f32: register windows on the matrix units: templates/nufft_interpolate_tf32.cuh
  gm,       // as published: one thread per point, in the caller's order
  gm_sort,  // the same in the order of bins; stays the last one
};
// What a spreader or an interpolator is like. Each family has a line, in the order of its enumeration; plan texts,
// rules, sorts and planners ask it. What else depends on the family is a switch, whose missing case the compiler names.
struct FamilyTraits {
  const char* name;     // as plan texts spell it
  bool published;       // a method of the paper on cuFINUFFT
  bool by_subproblems;  // takes its points by subproblems; others read records with whole cells, or none
  bool groups;          // takes several transforms of a batch at once
  bool fixed;           // spreaders: can add in 64-bit fixed point
};
inline constexpr FamilyTraits kSpreads[] = {
    // name, published, by_subproblems, groups, fixed
    {"points", false, false, true, true},    {"tile_atomic", false, true, false, true},
    {"tile_owned", false, true, true, true}, {"window", false, true, false, false},
    {"tf32x3", false, true, false, false},   {"gm", true, false, false, false},
    {"gm_sort", true, false, false, false},  {"sm", true, true, false, false},
};
static_assert(std::size(kSpreads) == static_cast<std::size_t>(Spread::sm) + 1, "each Spread has a line");
inline constexpr FamilyTraits kInterpolates[] = {
    {"points", false, false, true, false},  {"tiled", false, true, true, false},
    {"window", false, true, false, false},  {"matrix", false, true, false, false},
    {"tf32x3", false, true, false, false},  {"gm", true, false, false, false},
    {"gm_sort", true, false, false, false},
};
static_assert(std::size(kInterpolates) == static_cast<std::size_t>(Interpolate::gm_sort) + 1,
              "each Interpolate has a line");
constexpr const FamilyTraits& traits_of(Spread family) { return kSpreads[static_cast<std::size_t>(family)]; }
constexpr const FamilyTraits& traits_of(Interpolate family) { return kInterpolates[static_cast<std::size_t>(family)]; }
template <class Family>
constexpr bool is_published(Family family) {
  return traits_of(family).published;
}
template <class Family>
constexpr bool by_subproblems(Family family) {
  return traits_of(family).by_subproblems;
}

inline constexpr int kPublishedWarps = 8;                 // of a block of the published families
inline constexpr int kLeastCap = 32, kMostCap = 1 << 24;  // of points in a subproblem

struct Parameters {
  RecordOrder order = RecordOrder::slide;
  std::array<int, 3> bin{3, 3, 1};  // cells per side
  int cap = 1024;                   // maximum number of points per subproblem
  int lanes = 8;                    // per point: 1, 2, 4, 8 or 16
  int warps = 1;                    // per block: window (its warps share the tile), tile_atomic, tiled,
                                    // published families
  int min_blocks = 0;               // resident blocks per multiprocessor, promised to the compiler; 0: no promise
  int unroll = 2;                   // unroll factor of the loop over points: window
  int run = 1;                      // spreading, f32: 2 adds aligned pairs of x cells at once (points, window); needs
                                    // even rows, and for window also even bins in x
  int split = 1;                    // spreading, window: 1 or 2 points that the parts of a warp take at once
  int group = 1;            // transforms of a batch that share a point's weights: 1, 2, 4, ... 32 (f64: 16); not for
                            // window and tile_atomic. The grids of a group are interleaved (kernels.h)
  bool interleave = false;  // groups: values pass through an interleaved copy, so that points that are far apart in the
                            // caller's order are read or written in whole sectors
  bool fold = false;        // spreading, window: strengths go into the weights of x and y, not of the planes
  Placement placement = Placement::scatter;
  // Number of consecutive points (in the caller's order) that are sorted together, separately from the others; 0: all.
  // Values that the kernels read or write through the index then stay in a cache that can hold one slice's values.
  int slice = 0;
  // two_level: points that a block sorts at a time, a multiple of 512; 0: a size that fits well, and a single level if
  // there are few bins
  int segment = 0;
  // Spreading: sums in 64-bit fixed point, which give the same bits whatever the order of points and blocks. Not for
  // window; needs run 1.
  bool deterministic = false;
  // Deterministic: spreads twice, the second time what the unit of the first sums has left out. For f64 where many
  // points may share a cell (fixed_point_is_enough).
  bool twice = false;
  bool check = true;  // check for coordinates that are not finite
  friend bool operator==(const Parameters&, const Parameters&) = default;
};

}  // namespace fourtune::generator::nufft
