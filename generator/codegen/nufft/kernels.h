// CUDA kernels of the nonuniform stages: sort (set_points), spread (type 1) and interpolate (type 2). All sizes are
// compile-time constants, except the numbers of points and transforms, which are arguments. (The sort in two levels
// uses other kernels if there are more points than 4096 coarse bins can hold.)
//
// Sort: each point becomes a record (place in its cell and first cell, generator/plan/nufft/record.h) and its index
// in the caller's arrays; records lie bin by bin. Families that work bin by bin also get a list of subproblems of at
// most `cap` points. Spreading reads strengths through the index, and interpolation writes values through it.
//
// Grids are complex, interleaved, x fastest. spread adds to the grid: clear it first (emit_clear).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fourtune/problem.h"
#include "generator/codegen/kernel_source.h"
#include "generator/plan/nufft/bins.h"
#include "generator/plan/nufft/blocks.h"
#include "generator/plan/nufft/choices.h"
#include "generator/plan/nufft/shape.h"
#include "generator/window/window.h"

namespace fourtune::generator::nufft {

// A run of groups that one launch processes, `size` transforms at a time. The grids of the `size` transforms of a group
// are interleaved: transform fastest, then x, y, z. If the group size does not divide the batch, the last groups are
// smaller.
struct GroupRun {
  std::int64_t first = 0, count = 1;  // first transform, number of groups
  int size = 1;
};
std::vector<GroupRun> group_runs(std::int64_t transforms, int group);

// Reasonable initial parameters for a family; the tuner finds better ones. In defaults.cpp.
Parameters default_parameters(const Shape& shape, Spread family);
Parameters default_parameters(const Shape& shape, Interpolate family);
// The same for uniform points with a density other than one point per fine-grid cell.
Parameters default_parameters(const Shape& shape, Spread family, double points_per_cell);
Parameters default_parameters(const Shape& shape, Interpolate family, double points_per_cell);
// Tiles of Spread::window in 3D that are worth considering if points lie in a share of the grid.
std::vector<Parameters> window_tiles(const Shape& shape, double points_per_cell, double share = 1);

// Coordinate x of dimension d lies at cell position fine * frac((x - centre - centre_low) * (factor + factor_low)).
// Both need more digits than a double has: over N cells their rounding alone would be N / 2 times that of a coordinate.
struct Map {
  double centre = 0, centre_low = 0;
  double factor = 0x1.45f306dc9c883p-3, factor_low = -0x1.6b01ec5417056p-57;  // 1 / (2 pi)
};
// Radians, on a grid that begins at -pi.
inline constexpr Map kFromMinusPi{.centre = -0x1.921fb54442d18p1, .centre_low = -0x1.1a62633145c07p-53};
// Three of them as a kernel takes them (Maps in templates/nufft_locate.cuh), and whether an argument is that.
ArgumentStruct maps_argument(const std::array<Map, 3>& maps);
bool is_maps(const LaunchArgument& argument);

// The places of the arrays. The stages share kWorkspaces workspaces; the first of them has index `workspace`.
struct Arrays {
  std::array<BufferRef, 3> points;
  BufferRef values;  // strengths or results: `transforms` times m complex numbers
  BufferRef grid;    // `transforms` times the fine grid, in the order of group_runs
  int workspace = 0;
};
// The workspaces in order: records, index, tasks, offsets, sums, status, scratch, fixed. Status holds three 64-bit
// words: the first index of a point that is not finite (all ones: none), the number of points in large coarse bins (all
// ones: no such sort), and the largest number of points in one of them. Only the sort uses scratch, so it may share
// memory with anything that later stages overwrite, such as a fine grid. Scratch is needed by Placement::staged, for
// few points (places in bins), and by two_level if coarse bins are large. Only deterministic spreading uses fixed: it
// holds two bounds and a fine grid of pairs of 64-bit integers.
inline constexpr int kWorkspaces = 8;
enum Workspace { kRecords, kIndex, kTasks, kOffsets, kSums, kStatus, kScratch, kFixed };

// The coarse bins of a sort in two levels that hold more points than a block can sort, as the sort's status reports
// them.
struct LargeBins {
  std::int64_t points = 0, largest = 0;  // points in all of them, and in the one with most points
};

// The kernels of one plan. Throws Error{invalid_plan} naming the rule of generator/plan/nufft/rules.h that the
// parameters break. kernels.cpp has the constructor and the prelude; emit.cpp clears, spreads and interpolates;
// emit_sort.cpp sorts; emit_group.cpp handles several transforms at once; emit_published.cpp has published methods.
class StageKernels {
 public:
  StageKernels(const Shape& shape, const Parameters& parameters, const PiecewisePolynomial& window);

  // Bytes of the workspaces for at most m points, without the scratch for points of large coarse bins. tasks: includes
  // room for subproblems.
  std::array<std::int64_t, kWorkspaces> workspace_bytes(std::int64_t m, bool tasks = true) const;
  // Bytes of scratch for `points` points in large coarse bins, out of m points; 0: none is needed. All points can be in
  // such bins.
  std::int64_t large_bytes(std::int64_t m, std::int64_t points) const;
  // Bytes of scratch for emit_large_bins: enough for all points of large coarse bins or, where that is a lot, for
  // batches of them. The smallest usable size is for eight batches.
  std::int64_t large_scratch(std::int64_t m, const LargeBins& large) const;
  std::int64_t least_large_scratch(std::int64_t m, const LargeBins& large) const;
  // Each function appends the stage's kernels (each once) and launches. All transforms have the same points. scratch:
  // number of bytes available; with 0 there are no kernels for large coarse bins. If points of such bins need more,
  // they stay unsorted, and emit_large_bins must follow with at least least_large_scratch; everything else is complete.
  // tasks: also lists the subproblems, for families that work by them; emit_tasks can do that later.
  // start: the slab's first cell in the whole grid (Shape::period).
  void emit_sort(GpuProgram& program, const Arrays& arrays, std::int64_t m, const std::array<Map, 3>& map,
                 std::int64_t scratch, bool tasks = true, std::int64_t start = 0) const;
  void emit_large_bins(GpuProgram& program, const Arrays& arrays, std::int64_t m, const LargeBins& large,
                       std::int64_t scratch, bool tasks = true) const;
  void emit_tasks(GpuProgram& program, const Arrays& arrays, std::int64_t m) const;
  void emit_clear(GpuProgram& program, const Arrays& arrays, std::int64_t transforms) const;
  void emit_spread(GpuProgram& program, const Arrays& arrays, std::int64_t m, std::int64_t transforms,
                   Spread family) const;
  void emit_interpolate(GpuProgram& program, const Arrays& arrays, std::int64_t m, std::int64_t transforms,
                        Interpolate family) const;

  // The first cell of every point along the last dimension (32 bits each), and the 64-bit number of points that begin
  // at each cell; status as a sort's. In slabs.cpp.
  void emit_cells(GpuProgram& program, const Arrays& arrays, std::int64_t m, const BufferRef& cells,
                  const BufferRef& counts, const BufferRef& status, const std::array<Map, 3>& map = {}) const;
  // Deterministic spreading of one transform in two halves: the bounds of its unit, two 64-bit words that kFixed begins
  // with (Shape::agreed: of all ranks, before the second half), and the sums, which are added to the grid.
  void emit_bounds(GpuProgram& program, const Arrays& arrays, std::int64_t m) const;
  void emit_within_bounds(GpuProgram& program, const Arrays& arrays, std::int64_t m, Spread family) const;

  const Bins& bins() const { return bins_; }

 private:
  std::string prelude(const std::string& entry, const std::string& more, bool with_window) const;
  // with_window: the text begins with the window's function.
  KernelSource kernel(const std::string& entry, const std::string& body, const std::string& more, const Block& block,
                      bool with_window = true) const;
  std::string suffix() const;
  // The same for every shape, except for the type of counts.
  KernelSource clear_kernel() const;
  KernelSource offsets_kernel() const;
  // The sort's launches (emit_sort.cpp).
  struct SortLaunches;
  struct LevelLaunches;
  void emit_one_level(SortLaunches& out, const Arrays& arrays, std::int64_t m, bool tasks) const;
  void emit_two_levels(SortLaunches& out, const Arrays& arrays, std::int64_t m, std::int64_t scratch) const;
  void emit_second_level(SortLaunches& out, const Arrays& arrays, std::int64_t m, std::int64_t scratch,
                         std::int64_t from, std::int64_t step) const;
  // Makes offsets of counts, or lists the subproblems, or both; `state` is clear (Bins::state_bytes).
  void emit_offsets(SortLaunches& out, const Arrays& arrays, std::int64_t m, bool sums, bool list,
                    const BufferRef& state) const;
  // Stored after the subproblems: their number.
  BufferRef task_total(const Arrays& arrays, std::int64_t m) const;
  int real_bytes() const { return shape_.real_bytes(); }
  std::string window_constants(bool spreads) const;
  // The kernel of each family for one transform at a time, and those that it is made of. rest: what the unit of
  // deterministic sums has left out (Parameters::twice).
  KernelSource spreader(Spread family, bool rest) const;
  KernelSource interpolator(Interpolate family) const;
  KernelSource points_spreader(bool rest) const;
  KernelSource tile_spreader(bool atomic, bool rest) const;
  KernelSource tiled_interpolator(bool tiled) const;
  KernelSource matrix_interpolator() const;
  KernelSource window_kernel(bool spreads) const;
  KernelSource tf32_kernel(bool spreads) const;
  std::int64_t points_of_warp(int lanes, std::int64_t points) const;
  // Deterministic spreading (emit_bounds and emit_within_bounds) of several transforms.
  void launch_fixed(GpuProgram& program, KernelSource source, std::int64_t items, std::vector<LaunchArgument> arguments,
                    std::int64_t bytes) const;
  KernelSource fixed_kernel(const char* name, int pass, bool rest) const;
  void emit_fixed(GpuProgram& program, const Arrays& arrays, std::int64_t m, std::int64_t transforms,
                  Spread family) const;
  void emit_spreader(GpuProgram& program, const Arrays& arrays, std::int64_t m, std::int64_t transforms, Spread family,
                     bool rest = false) const;
  std::string fixed_constants(bool rest) const;
  // The methods of the paper on cuFINUFFT (emit_published.cpp; their sort: emit_sort.cpp). Workspace `records` holds
  // the coordinates, dimension by dimension, then how they are folded. No family: interpolation.
  std::array<std::int64_t, kWorkspaces> index_workspace_bytes(std::int64_t m, bool tasks) const;
  std::int64_t folds_at(std::int64_t m) const;  // bytes of the coordinates
  void emit_index_sort(SortLaunches& out, const Arrays& arrays, std::int64_t m) const;
  std::string published_constants() const;
  void emit_published(GpuProgram& program, const Arrays& arrays, std::int64_t m, std::int64_t transforms,
                      std::optional<Spread> family = std::nullopt) const;
  // Several transforms at once (emit_group.cpp).
  Arrays of_run(Arrays arrays, std::int64_t m, const GroupRun& run) const;
  struct GroupKernel;
  std::string group_constants(const GroupBlock& block, int size, bool tiled) const;
  void launch_groups(GpuProgram& program, const Arrays& arrays, std::int64_t m, const GroupRun& run,
                     const GroupKernel& of) const;
  void emit_interleave(GpuProgram& program, const Arrays& arrays, std::int64_t m, int size, bool spreads) const;
  void emit_spread_group(GpuProgram& program, const Arrays& arrays, std::int64_t m, const GroupRun& run,
                         Spread family) const;
  void emit_interpolate_group(GpuProgram& program, const Arrays& arrays, std::int64_t m, const GroupRun& run,
                              Interpolate family) const;
  void emit_interpolator(GpuProgram& program, const Arrays& arrays, std::int64_t m, std::int64_t transforms,
                         Interpolate family) const;

  Shape shape_;
  Parameters parameters_;
  PiecewisePolynomial window_;
  Bins bins_;
};

// Text of `nufft_window`: the weights of all w cells at window coordinate z. Even and odd parts are evaluated once per
// pair of mirrored cells.
std::string window_text(const PiecewisePolynomial& window, Precision precision);

}  // namespace fourtune::generator::nufft
