// CUDA kernels of the nonuniform stages: sort (set_points), spread (type 1) and interpolate (type 2), every size a
// compile-time constant. A kernel's text does not depend on the number of points or of transforms: those are arguments.
// (The sort in two levels has other kernels for more points than 4096 coarse bins take.)
//
// Sort: each point becomes a record (place in its cell and first cell, generator/codegen/nufft/record.h) and its
// index in the caller's arrays; records lie bin by bin. Families that work bin by bin get a list of subproblems of at
// most `cap` points too. Spreading reads strengths through the index; interpolation writes values through it.
//
// Grids are complex, interleaved, x fastest. spread adds to the grid: clear it first (emit_clear).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "fourtune/problem.h"
#include "generator/codegen/kernel_source.h"
#include "generator/codegen/nufft/record.h"
#include "generator/plan/nufft/choices.h"
#include "generator/window/window.h"

namespace fourtune::generator::nufft {

// Transforms that one launch takes `size` at a time; the grids of each `size` of them are interleaved: transform
// fastest, then x, y, z. A batch that groups do not divide ends in smaller ones.
struct GroupRun {
  std::int64_t first = 0, count = 1;  // transform, groups
  int size = 1;
};
std::vector<GroupRun> group_runs(std::int64_t transforms, int group);

// What all kernels of a transform share.
struct Shape {
  int dim = 3;
  std::array<std::int64_t, 3> fine{1, 1, 1};  // cells; 1 in dimensions that are absent
  Precision precision = Precision::f32;
  int width = 6;              // 2 to 16; Spread::points and Interpolate::points to 65
  bool large_counts = false;  // 64-bit point counts: for 2^31 points or more
  double unit = 0;            // cells to which places of points may be rounded (position_unit); 0: as fine as may be
  bool whole_cells = true;    // of records; false: families that work by subproblems alone, and fewer than 2^28 points
};

// Parameters that are a fair start for a family; the tuner knows better.
Parameters default_parameters(const Shape& shape, Spread family);
Parameters default_parameters(const Shape& shape, Interpolate family);
// The same for a density other than one point a fine-grid cell, uniform points.
Parameters default_parameters(const Shape& shape, Spread family, double points_per_cell);
Parameters default_parameters(const Shape& shape, Interpolate family, double points_per_cell);
// Tiles of Spread::window in 3D worth a look where points lie in a share of the grid; window_spread_seconds ranks them.
std::vector<Parameters> window_tiles(const Shape& shape, double points_per_cell, double share = 1);
// Seconds in which register windows add so many points to a share of a 3D grid, evenly, on an H200: a price of a point,
// and one of what leaves the tiles. Constants from the runs of docs/gpu-nufft.md.
double window_spread_seconds(const Shape& shape, const Parameters& with, double points, double share = 1);

// Coordinate x of dimension d lies at cell position fine * frac((x - centre) * (factor + factor_low)).
struct Map {
  double centre = 0;
  double factor = 0x1.45f306dc9c883p-3, factor_low = -0x1.6b01ec5417056p-57;  // 1 / (2 pi)
};

// Where the arrays are. The stages share kWorkspaces workspaces, the first of which is `workspace`.
struct Arrays {
  std::array<BufferRef, 3> points;
  BufferRef values;  // strengths or results, `transforms` times m complex
  BufferRef grid;    // `transforms` times the fine grid, in the order of group_runs
  int workspace = 0;
};
// Workspaces in order: records, index, tasks, offsets, sums, status, scratch, fixed. Status holds three 64-bit words:
// the first index of a point that is not finite (all ones: none), the number of points in large coarse bins (all ones:
// no such sort), and the most points of one of them. Scratch is used by the sort alone and may share memory with
// anything that later stages overwrite, as a fine grid: Placement::staged needs it, few points (places in bins),
// two_level where coarse bins are large. Fixed is used by deterministic spreading alone: two bounds and a fine grid of
// pairs of 64-bit integers.
inline constexpr int kWorkspaces = 8;
enum Workspace { kRecords, kIndex, kTasks, kOffsets, kSums, kStatus, kScratch, kFixed };

// Coarse bins of a sort in two levels that hold more points than a block sorts: the sort's status tells.
struct LargeBins {
  std::int64_t points = 0, largest = 0;  // of all, and of the one with most
};

// The kernels of one plan. Throws Error{invalid_plan} saying which rule the parameters break.
class Kernels {
 public:
  Kernels(const Shape& shape, const Parameters& parameters, const PiecewisePolynomial& window);

  // Bytes of the workspaces for at most m points, without what the points of large coarse bins need as scratch. tasks:
  // with room for subproblems.
  std::array<std::int64_t, kWorkspaces> workspace_bytes(std::int64_t m, bool tasks = true) const;
  // Bytes of scratch for so many points in large coarse bins, of m points; 0: none is needed. All can be in such bins.
  std::int64_t large_bytes(std::int64_t m, std::int64_t points) const;
  // Bytes of scratch to give emit_large: for all of them, or where that is much for batches of them. The least is for
  // eight batches.
  std::int64_t late_bytes(std::int64_t m, const LargeBins& large) const;
  std::int64_t least_late_bytes(std::int64_t m, const LargeBins& large) const;
  // Appends the stage's kernels (each once) and launches. Points of all transforms are the same.
  // scratch: bytes that are there. Where points of large coarse bins want more, they stay unsorted and emit_large is to
  // follow, with least_late_bytes at least; all else holds. tasks: list the subproblems, for families that work by
  // them; emit_tasks does it later.
  void emit_sort(GpuProgram& program, const Arrays& arrays, std::int64_t m, const std::array<Map, 3>& map,
                 std::int64_t scratch, bool tasks = true) const;
  void emit_large(GpuProgram& program, const Arrays& arrays, std::int64_t m, const LargeBins& large,
                  std::int64_t scratch, bool tasks = true) const;
  void emit_tasks(GpuProgram& program, const Arrays& arrays, std::int64_t m) const;
  void emit_clear(GpuProgram& program, const Arrays& arrays, std::int64_t transforms) const;
  void emit_spread(GpuProgram& program, const Arrays& arrays, std::int64_t m, std::int64_t transforms,
                   Spread family) const;
  void emit_interpolate(GpuProgram& program, const Arrays& arrays, std::int64_t m, std::int64_t transforms,
                        Interpolate family) const;

  // Of the sort and of a slice (Parameters::slice): bins, and groups of bins that a subproblem belongs to.
  std::int64_t bins() const;
  std::int64_t groups() const;
  std::int64_t slices(std::int64_t m) const;

 private:
  std::string prelude(const std::string& entry, const std::string& more, bool with_window) const;
  KernelSource kernel(const std::string& entry, const std::string& body, const std::string& more, int threads,
                      std::int64_t shared_bytes, bool with_window = true) const;
  std::string suffix() const;
  // The stage's launches, in two files: emit_sort.cpp.
  struct SortLaunches;
  struct TwoLevels;
  struct LevelLaunches;
  TwoLevels two_levels(std::int64_t m) const;
  void emit_one_level(SortLaunches& out, const Arrays& arrays, std::int64_t m) const;
  void emit_two_levels(SortLaunches& out, const Arrays& arrays, std::int64_t m, std::int64_t scratch) const;
  void emit_second_level(SortLaunches& out, const Arrays& arrays, std::int64_t m, std::int64_t scratch,
                         std::int64_t from, std::int64_t step) const;
  int most_coarse_bits() const;
  void emit_tasks(SortLaunches& out, const Arrays& arrays, std::int64_t m) const;
  // Behind the subproblems: how many there are before each group, and of all.
  BufferRef task_parts(const Arrays& arrays, std::int64_t m) const;
  BufferRef task_total(const Arrays& arrays, std::int64_t m) const;
  bool one_block(std::int64_t m) const;
  void one_block_kernel(SortLaunches& out, const char* name, int pass, std::vector<LaunchArgument> arguments,
                        std::int64_t bytes) const;
  std::int64_t most_tasks(std::int64_t m) const;
  int real_bytes() const { return shape_.precision == Precision::f32 ? 4 : 8; }
  // What both register-window kernels need: constants, threads, bytes of shared memory for `numbers` + tile a point.
  struct WindowTile {
    std::string constants;
    int threads = 0, stage = 0;
  };
  WindowTile window_tile(int numbers, bool spreads) const;
  KernelSource matrix_interpolator() const;
  void check_run() const;
  void check_width() const;
  void check_whole_cells() const;
  // Deterministic spreading: what goes before and after the spreader, for each transform.
  void emit_fixed(GpuProgram& program, const Arrays& arrays, std::int64_t m, std::int64_t transforms,
                  Spread family) const;
  void emit_spreader(GpuProgram& program, const Arrays& arrays, std::int64_t m, std::int64_t transforms,
                     Spread family) const;
  std::string fixed_constants() const;
  // Several transforms at once (emit_group.cpp).
  Arrays of_run(Arrays arrays, std::int64_t m, const GroupRun& run) const;
  struct GroupShape;
  struct GroupKernel;
  GroupShape group_shape(int size, bool tiled, int numbers) const;
  void launch_groups(GpuProgram& program, const Arrays& arrays, std::int64_t m, const GroupRun& run,
                     const GroupKernel& of) const;
  void emit_interleave(GpuProgram& program, const Arrays& arrays, std::int64_t m, int size, bool spreads) const;
  void emit_spread_group(GpuProgram& program, const Arrays& arrays, std::int64_t m, const GroupRun& run,
                         Spread family) const;
  void emit_interpolate_group(GpuProgram& program, const Arrays& arrays, std::int64_t m, const GroupRun& run,
                              Interpolate family) const;
  void emit_interpolator(GpuProgram& program, const Arrays& arrays, std::int64_t m, std::int64_t transforms,
                         Interpolate family) const;
  int slide() const;  // dimension whose bins lie together; 0: none

  Shape shape_;
  Parameters parameters_;
  PiecewisePolynomial window_;
  std::array<std::int64_t, 3> bins_{1, 1, 1};
  RecordLayout layout_;
};

// Text of `nufft_window`: the weights of all w cells at window coordinate z. Even and odd parts are evaluated once for
// each pair of mirrored cells.
std::string window_text(const PiecewisePolynomial& window, Precision precision);

}  // namespace fourtune::generator::nufft
