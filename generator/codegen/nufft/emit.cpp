// The launches of each stage except the sort (emit_sort.cpp) and groups of transforms (emit_group.cpp).
#include <fmt/format.h>

#include <algorithm>

#include "fourtune/status.h"
#include "generator/codegen/nufft/kernels.h"
#include "generator/codegen/nufft/launches.h"
#include "generator/plan/nufft/rules.h"
#include "nufft_fixed_text.h"
#include "nufft_interpolate_matrix_text.h"
#include "nufft_interpolate_planes_text.h"
#include "nufft_interpolate_text.h"
#include "nufft_interpolate_tf32_text.h"
#include "nufft_interpolate_window_text.h"
#include "nufft_matrix_text.h"
#include "nufft_spread_points_text.h"
#include "nufft_spread_tf32_text.h"
#include "nufft_spread_tile_text.h"
#include "nufft_spread_window_text.h"
#include "nufft_tf32_text.h"

namespace fourtune::generator::nufft {
namespace {

// The most bins that can fill one cell along a dimension, each counted by the largest weight that its points have
// there, over all places of the cell in its bin (four per cell, hence the margin).
double bins_on_a_cell(const PiecewisePolynomial& window, int bin) {
  const double half = window.width / 2.0;
  const auto weight = [&](double at) {    // at a distance of `at` cells
    const double from_start = half - at;  // the window is even
    const int piece = std::clamp(static_cast<int>(from_start), 0, window.width - 1);
    return std::abs(window(piece, 2 * (from_start - piece) - 1));
  };
  double most = 0;
  for (int step = 0; step <= 4 * bin; ++step) {
    double sum = 1;  // the bin of the cell; its neighbours begin `right` and `left` cells away
    const double right = step / 4.0, left = bin - right;
    for (double at = right; at < half; at += bin) sum += weight(at);
    for (double at = left; at < half; at += bin) sum += weight(at);
    most = std::max(most, sum);
  }
  return 1.05 * most;
}

// The last groups of a batch may be smaller, down to single transforms, for which other rules hold.
template <class Family>
void require_runs(const Shape& shape, Parameters parameters, Family family, const std::vector<GroupRun>& runs) {
  for (const GroupRun& run : runs) {
    parameters.group = run.size;
    require(broken_rule(shape, parameters, family));
  }
}

int divided_up(int a, int b) { return (a + b - 1) / b; }

}  // namespace

// Of both register-window kernels.
std::string StageKernels::window_constants(bool spreads) const {
  const int w = shape_.width, dim = shape_.dim;
  const Parameters& p = parameters_;
  const WindowBlock block = window_block(shape_, p, spreads);
  const int members = block.threads() / block.split;
  return fmt::format(
             "#define NUFFT_TX {}\n#define NUFFT_TY {}\n#define NUFFT_PLANES {}\n#define NUFFT_CELLS {}\n#define NUFFT_RUN "
             "{}\n"
             "#define NUFFT_WARPS {}\n#define NUFFT_STAGE {}\n#define NUFFT_WEIGHTS {}\n#define NUFFT_SAME_X {}\n"
             "#define NUFFT_UNROLL {}\n#define NUFFT_PERIOD {}\n#define NUFFT_MIN_BLOCKS {}\n#define NUFFT_SPLIT {}\n#define "
             "NUFFT_FOLD {}\n",
             block.tx, block.ty, dim == 1 ? 1 : w, divided_up(block.tx * block.ty, members * block.run) * block.run,
             block.run, p.warps, block.stage, block.weights, members * block.run % block.tx == 0 ? 1 : 0, p.unroll,
             dim == 1 ? 1 : shape_.fine[static_cast<std::size_t>(dim - 1)],
             p.min_blocks > 0 ? fmt::format(", {}", p.min_blocks) : "", block.split, p.fold ? 1 : 0) +
         (spreads ? std::string() : fmt::format("#define NUFFT_AT_ONCE {}\n", kAtOnce));
}

void StageKernels::emit_clear(GpuProgram& program, const Arrays& arrays, std::int64_t transforms) const {
  const std::int64_t words = shape_.cells() * transforms * real_bytes() * 2 / 8;
  const int at = add(program, clear_kernel());
  program.launches.push_back({at,
                              {std::min(blocks(words, 256 * 8), 8192u), 1, 1},
                              {arrays.grid, words, arrays.grid, std::int64_t{0}},
                              "spread",
                              words * 8,
                              0});
}

void StageKernels::emit_spread(GpuProgram& program, const Arrays& arrays, std::int64_t m, std::int64_t transforms,
                               Spread family) const {
  require(broken_rule(shape_, parameters_, family));
  if (m == 0) return;
  if (is_published(family)) return emit_published(program, arrays, m, transforms, family);
  if (parameters_.deterministic) return emit_fixed(program, arrays, m, transforms, family);
  const std::vector<GroupRun> runs = group_runs(transforms, parameters_.group);
  require_runs(shape_, parameters_, family, runs);
  for (const GroupRun& run : runs)
    run.size == 1 ? emit_spreader(program, of_run(arrays, m, run), m, run.count, family)
                  : emit_spread_group(program, of_run(arrays, m, run), m, run, family);
}

// A launch of one of the passes beside the spreaders of deterministic sums.
void StageKernels::launch_fixed(GpuProgram& program, KernelSource source, std::int64_t items,
                                std::vector<LaunchArgument> arguments, std::int64_t bytes) const {
  const std::int64_t most = 16ll * shape_.multiprocessors;  // blocks, which loop over the items
  const int at = add(program, std::move(source));
  program.launches.push_back(
      {at, {blocks(std::min(items, 1024 * most), 1024), 1, 1}, std::move(arguments), "spread", bytes, 0});
}

KernelSource StageKernels::fixed_kernel(const char* name, int pass, bool rest) const {
  return kernel(name, nufft_fixed_text, fixed_constants(rest) + fmt::format("#define NUFFT_PASS {}\n", pass),
                plain_block(256, 9 * 8), false);
}

void StageKernels::emit_bounds(GpuProgram& program, const Arrays& arrays, std::int64_t m) const {
  const std::int64_t sorted_bins = parameters_.order == RecordOrder::caller ? 0 : bins_.count() * bins_.slices(m);
  const BufferRef bounds = work(arrays, kFixed);
  const std::int64_t words = 2 * shape_.cells() + 2;
  launch_fixed(program, clear_kernel(), words, {bounds, words, bounds, std::int64_t{0}}, 8 * words);
  launch_fixed(program, fixed_kernel("fixed_bounds", 0, false), std::max(m, sorted_bins),
               {arrays.values, work(arrays, kOffsets), bounds, m, sorted_bins}, m * 2 * real_bytes());
}

void StageKernels::emit_within_bounds(GpuProgram& program, const Arrays& arrays, std::int64_t m, Spread family) const {
  const std::int64_t cells = shape_.cells(), real = real_bytes();
  const BufferRef bounds = work(arrays, kFixed), sums = work(arrays, kFixed, 16), target = arrays.grid;
  Arrays one = arrays;
  one.grid = sums;
  const auto spread = [&](bool rest) {
    if (m > 0) {
      emit_spreader(program, one, m, 1, family, rest);
      program.launches.back().arguments.emplace_back(bounds);
    }
    launch_fixed(program, fixed_kernel(rest ? "fixed_add_rest" : "fixed_add", 1, rest), cells,
                 {sums, bounds, target, m, cells}, cells * (16 + 4 * real));
  };
  spread(false);
  if (!parameters_.twice) return;
  launch_fixed(program, clear_kernel(), 2 * cells, {sums, 2 * cells, sums, std::int64_t{0}}, 16 * cells);
  spread(true);
}

void StageKernels::emit_fixed(GpuProgram& program, const Arrays& arrays, std::int64_t m, std::int64_t transforms,
                              Spread family) const {
  const std::int64_t complex = 2 * real_bytes();
  for (std::int64_t t = 0; t < transforms; ++t) {
    Arrays one = arrays;
    one.values.byte_offset += t * m * complex;
    one.grid.byte_offset += t * shape_.cells() * complex;
    emit_bounds(program, one, m);
    emit_within_bounds(program, one, m, family);
  }
}

std::string StageKernels::fixed_constants(bool rest) const {
  if (!parameters_.deterministic) return "";
  double reach = 1;
  for (int d = 0; d < shape_.dim; ++d) reach *= bins_on_a_cell(window_, parameters_.bin[static_cast<std::size_t>(d)]);
  return fmt::format("#define NUFFT_FIXED 1\n#define NUFFT_REACH {:.17g}\n{}", reach,
                     rest ? "#define NUFFT_REST 1\n" : "");
}

KernelSource StageKernels::points_spreader(bool rest) const {
  const Parameters& p = parameters_;
  const PointsBlock block = spread_points_block(shape_, p);
  const std::string more = fmt::format(
      "#define NUFFT_LANES {}\n#define NUFFT_NUMBERS {}\n#define NUFFT_STAGE_WARP {}\n#define NUFFT_RUN {}\n"
      "#define NUFFT_WARPS {}\n{}",
      p.lanes, block.numbers, block.stage, p.run, block.warps, fixed_constants(rest));
  return kernel(fmt::format("spread_points_l{}{}", p.lanes, rest ? "_rest" : ""), nufft_spread_points_text, more,
                block);
}

KernelSource StageKernels::tile_spreader(bool atomic, bool rest) const {
  const int w = shape_.width;
  const Block block = spread_tile_block(shape_, parameters_, atomic ? Spread::tile_atomic : Spread::tile_owned);
  const std::string more = fmt::format(
      "#define NUFFT_ATOMIC {}\n#define NUFFT_THREADS {}\n#define NUFFT_STAGE {}\n#define NUFFT_CELLS {}\n{}",
      atomic ? 1 : 0, block.threads(), block.stage, divided_up(shape_.dim == 1 ? w : w * w, 32), fixed_constants(rest));
  return kernel(fmt::format("spread_tile_{}{}", atomic ? "atomic" : "owned", rest ? "_rest" : ""),
                nufft_spread_tile_text, more, block);
}

KernelSource StageKernels::window_kernel(bool spreads) const {
  const Parameters& p = parameters_;
  return kernel(fmt::format("{}_window_{}x{}_g{}", spreads ? "spread" : "interpolate", p.bin[0],
                            shape_.dim == 3 ? p.bin[1] : 1, p.warps),
                spreads ? nufft_spread_window_text : nufft_interpolate_window_text, window_constants(spreads),
                window_block(shape_, p, spreads));
}

KernelSource StageKernels::spreader(Spread family, bool rest) const {
  switch (family) {
    case Spread::points:
      return points_spreader(rest);
    case Spread::tile_atomic:
    case Spread::tile_owned:
      return tile_spreader(family == Spread::tile_atomic, rest);
    case Spread::window:
      return window_kernel(true);
    case Spread::tf32x3:
      return tf32_kernel(true);
    case Spread::gm:
    case Spread::gm_sort:
    case Spread::sm:
      break;  // emit_published.cpp
  }
  return {};
}

void StageKernels::emit_spreader(GpuProgram& program, const Arrays& arrays, std::int64_t m, std::int64_t transforms,
                                 Spread family, bool rest) const {
  const int w = shape_.width, dim = shape_.dim, real = real_bytes();
  const std::int64_t cells = shape_.cells();
  const double stencil = dim == 1 ? w : dim == 2 ? w * w : static_cast<double>(w) * w * w;
  const bool by_task = by_subproblems(family);
  KernelSource source = spreader(family, rest);
  const std::uint32_t grid = by_task ? blocks(bins_.most_tasks(m), 1) : blocks(m, source.block[0]);
  const int at = add(program, std::move(source));
  const BufferRef records = work(arrays, kRecords), index = work(arrays, kIndex), tasks = work(arrays, kTasks);
  std::vector<LaunchArgument> arguments{records, index, arrays.values, arrays.grid, m, distances(m, cells)};
  if (by_task)
    arguments = {records, index, tasks, task_total(arrays, m), arrays.values, arrays.grid, distances(m, cells)};
  program.launches.push_back({at,
                              {grid, transforms_of(transforms), 1},
                              std::move(arguments),
                              "spread",
                              transforms * (m * (4 * real + 4 + 2 * real) + cells * 4 * real),
                              4 * stencil * static_cast<double>(m * transforms)});
}

KernelSource StageKernels::tf32_kernel(bool spreads) const {
  const Parameters& p = parameters_;
  const Tf32Block block = tf32_block(shape_, p, spreads);
  const std::string more =
      fmt::format("#define NUFFT_TY {}\n#define NUFFT_STAGE {}\n#define NUFFT_PERIOD {}\n#define NUFFT_MIN_BLOCKS {}\n",
                  block.ty, block.stage, shape_.fine[2], p.min_blocks > 0 ? fmt::format(", {}", p.min_blocks) : "");
  const std::string text =
      std::string(nufft_tf32_text) + (spreads ? nufft_spread_tf32_text : nufft_interpolate_tf32_text);
  return kernel(fmt::format("{}_tf32_{}x{}", spreads ? "spread" : "interpolate", p.bin[0], p.bin[1]), text, more,
                block);
}

KernelSource StageKernels::matrix_interpolator() const {
  const Parameters& p = parameters_;
  const MatrixBlock block = matrix_block(shape_, p);
  const std::string more = fmt::format(
      "#define NUFFT_KX {}\n#define NUFFT_KY {}\n#define NUFFT_ROW {}\n#define NUFFT_WARPS {}\n#define NUFFT_PLANES "
      "{}\n#define NUFFT_MIN_BLOCKS {}\n",
      block.kx, block.ky, block.row, p.warps, block.planes, p.min_blocks > 0 ? fmt::format(", {}", p.min_blocks) : "");
  const std::string text = std::string(nufft_matrix_text) +
                           (shape_.dim == 2 ? nufft_interpolate_matrix_text : nufft_interpolate_planes_text);
  return kernel(fmt::format("interpolate_matrix_{}x{}", 4 * block.kx, 4 * block.ky), text, more, block);
}

KernelSource StageKernels::tiled_interpolator(bool tiled) const {
  const Block block = interpolate_block(shape_, parameters_, tiled ? Interpolate::tiled : Interpolate::points);
  const std::string more = fmt::format(
      "#define NUFFT_TILED {}\n#define NUFFT_THREADS {}\n#define NUFFT_LANES {}\n#define NUFFT_STAGE_WARP {}\n",
      tiled ? 1 : 0, block.threads(), parameters_.lanes, block.stage);
  return kernel(fmt::format("interpolate_{}_l{}", tiled ? "tiled" : "points", parameters_.lanes),
                nufft_interpolate_text, more, block);
}

KernelSource StageKernels::interpolator(Interpolate family) const {
  switch (family) {
    case Interpolate::points:
    case Interpolate::tiled:
      return tiled_interpolator(family == Interpolate::tiled);
    case Interpolate::window:
      return window_kernel(false);
    case Interpolate::matrix:
      return matrix_interpolator();
    case Interpolate::tf32x3:
      return tf32_kernel(false);
    case Interpolate::gm:
    case Interpolate::gm_sort:
      break;  // emit_published.cpp
  }
  return {};
}

void StageKernels::emit_interpolate(GpuProgram& program, const Arrays& arrays, std::int64_t m, std::int64_t transforms,
                                    Interpolate family) const {
  require(broken_rule(shape_, parameters_, family));
  if (m == 0) return;
  if (is_published(family)) return emit_published(program, arrays, m, transforms);
  const std::vector<GroupRun> runs = group_runs(transforms, parameters_.group);
  require_runs(shape_, parameters_, family, runs);
  for (const GroupRun& run : runs)
    run.size == 1 ? emit_interpolator(program, of_run(arrays, m, run), m, run.count, family)
                  : emit_interpolate_group(program, of_run(arrays, m, run), m, run, family);
}

// Points that a warp reads one after the other: fewer than 32 where there are not enough for 16 warps on each
// multiprocessor. 213 points of w = 14 in 3D, twice, took 149 us by 14 warps (H100).
std::int64_t StageKernels::points_of_warp(int lanes, std::int64_t points) const {
  const std::int64_t at_once = 32 / lanes,
                     fair = (points + 16 * shape_.multiprocessors - 1) / (16 * shape_.multiprocessors);
  return std::clamp<std::int64_t>((fair + at_once - 1) / at_once * at_once, at_once, 32);
}

void StageKernels::emit_interpolator(GpuProgram& program, const Arrays& arrays, std::int64_t m, std::int64_t transforms,
                                     Interpolate family) const {
  const int w = shape_.width, dim = shape_.dim, real = real_bytes();
  const Parameters& p = parameters_;
  const bool by_task = by_subproblems(family);
  const std::int64_t cells = shape_.cells();
  KernelSource source = interpolator(family);
  const std::uint32_t grid = by_task
                                 ? blocks(bins_.most_tasks(m), family == Interpolate::matrix && dim == 2 ? p.warps : 1)
                                 : blocks(m, source.block[0] / 32 * points_of_warp(p.lanes, m * transforms));
  const int at = add(program, std::move(source));
  const BufferRef total = task_total(arrays, m);
  const BufferRef records = work(arrays, kRecords), index = work(arrays, kIndex), tasks = work(arrays, kTasks);
  std::vector<LaunchArgument> arguments{records, index, arrays.grid, arrays.values, m, distances(m, cells)};
  if (by_task) arguments = {records, index, tasks, total, arrays.grid, arrays.values, m, distances(m, cells)};
  const double stencil = dim == 1 ? w : dim == 2 ? w * w : static_cast<double>(w) * w * w;
  program.launches.push_back({at,
                              {grid, transforms_of(transforms), 1},
                              std::move(arguments),
                              "interpolate",
                              transforms * (m * (4 * real + 4 + 2 * real) + cells * 2 * real),
                              4 * stencil * static_cast<double>(m * transforms)});
}

}  // namespace fourtune::generator::nufft
