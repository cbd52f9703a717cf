// The launches of each stage except the sort (emit_sort.cpp) and groups of transforms (emit_group.cpp).
#include <fmt/format.h>

#include <algorithm>

#include "fourtune/status.h"
#include "generator/codegen/nufft/kernels.h"
#include "generator/codegen/nufft/launches.h"
#include "nufft_fixed_text.h"
#include "nufft_interpolate_matrix_text.h"
#include "nufft_interpolate_planes_text.h"
#include "nufft_interpolate_text.h"
#include "nufft_interpolate_window_text.h"
#include "nufft_matrix_text.h"
#include "nufft_scan_text.h"
#include "nufft_spread_points_text.h"
#include "nufft_spread_tile_text.h"
#include "nufft_spread_window_text.h"

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

std::uint32_t transforms_of(std::int64_t transforms) {
  if (transforms < 1 || transforms > 65535)
    throw Error(Status::unsupported,
                fmt::format("nufft kernels: {} transforms in a launch, allowed are 1 to 65535", transforms));
  return static_cast<std::uint32_t>(transforms);
}
int divided_up(int a, int b) { return (a + b - 1) / b; }
// Number of warps per block whose shares of shared memory fit; wide windows in double precision reduce it.
int fitting_warps(int wanted, std::int64_t bytes_each) {
  while (wanted > 1 && wanted * bytes_each > 200 * 1024) wanted /= 2;
  return wanted;
}

}  // namespace

void Kernels::check_width() const {
  if (shape_.width > kMaxWidth)
    throw Error(Status::invalid_plan,
                fmt::format("nufft kernels: width {}, families other than points go to {}", shape_.width, kMaxWidth));
}

void Kernels::check_whole_cells() const {
  if (!layout_.whole)
    throw Error(Status::internal, "nufft kernels: families without subproblems need records with whole cells");
}

void Kernels::check_run() const {
  if (shape_.precision != Precision::f32 || shape_.dim == 1 || shape_.fine[0] % 2 != 0)
    throw Error(Status::invalid_plan,
                "nufft kernels: run 2 needs single precision, 2 or 3 dimensions and an even number of cells in x");
}

Kernels::WindowTile Kernels::window_tile(int numbers, bool spreads) const {
  const int w = shape_.width, dim = shape_.dim, vector = 16 / real_bytes();
  const Parameters& p = parameters_;
  const int run = spreads ? p.run : 1, split = spreads ? p.split : 1;
  if (p.order != Order::slide || (dim > 1 && p.bin[static_cast<std::size_t>(dim - 1)] != 1))
    throw Error(Status::invalid_plan, "nufft kernels: register windows need order slide and bins of one cell along it");
  if (run == 2) check_run();
  if (run == 2 && p.bin[0] % 2 != 0) throw Error(Status::invalid_plan, "nufft kernels: run 2 needs an even bin in x");
  const int tx = divided_up(p.bin[0] + w - 1, run) * run, ty = dim == 3 ? p.bin[1] + w - 1 : 1;
  WindowTile tile;
  if (split != 1 && (split != 2 || run != 1 || p.warps != 1))
    throw Error(Status::invalid_plan, "nufft kernels: split is 1, or 2 with run 1 and one warp");
  tile.threads = 32 * p.warps;
  // 2D spreading stages weights and their place; all other kernels stage a weight for each cell of the tile.
  const int along = dim == 2 && spreads && run == 1 ? w + 1 : tx + ty;
  tile.stage = divided_up(numbers + along, vector) * vector;
  if (tile.stage / vector % 2 == 0) tile.stage += vector;  // an odd multiple of 16 bytes: no bank conflicts
  const int members = tile.threads / split;
  tile.constants = fmt::format(
      "#define NUFFT_TX {}\n#define NUFFT_TY {}\n#define NUFFT_PLANES {}\n#define NUFFT_CELLS {}\n#define NUFFT_RUN "
      "{}\n"
      "#define NUFFT_WARPS {}\n#define NUFFT_STAGE {}\n#define NUFFT_WEIGHTS {}\n#define NUFFT_SAME_X {}\n"
      "#define NUFFT_UNROLL {}\n#define NUFFT_PERIOD {}\n#define NUFFT_MIN_BLOCKS {}\n#define NUFFT_SPLIT {}\n#define "
      "NUFFT_FOLD {}\n",
      tx, ty, dim == 1 ? 1 : w, divided_up(tx * ty, members * run) * run, run, p.warps, tile.stage, numbers,
      members * run % tx == 0 ? 1 : 0, p.unroll, dim == 1 ? 1 : shape_.fine[static_cast<std::size_t>(dim - 1)],
      p.min_blocks > 0 ? fmt::format(", {}", p.min_blocks) : "", split, p.fold ? 1 : 0);
  return tile;
}

void Kernels::emit_clear(GpuProgram& program, const Arrays& arrays, std::int64_t transforms) const {
  const std::int64_t words = shape_.fine[0] * shape_.fine[1] * shape_.fine[2] * transforms * real_bytes() * 2 / 8;
  const int at = add(program, kernel("clear", nufft_scan_text, "#define NUFFT_PASS 0\n", 256, 9 * 8, false));
  program.launches.push_back({at,
                              {std::min(blocks(words, 256 * 8), 8192u), 1, 1},
                              {arrays.grid, words, std::int64_t{0}},
                              "spread",
                              words * 8,
                              0});
}

void Kernels::emit_spread(GpuProgram& program, const Arrays& arrays, std::int64_t m, std::int64_t transforms,
                          Spread family) const {
  if (m == 0) return;
  if (parameters_.deterministic) return emit_fixed(program, arrays, m, transforms, family);
  for (const GroupRun& run : group_runs(transforms, parameters_.group))
    run.size == 1 ? emit_spreader(program, of_run(arrays, m, run), m, run.count, family)
                  : emit_spread_group(program, of_run(arrays, m, run), m, run, family);
}

void Kernels::emit_fixed(GpuProgram& program, const Arrays& arrays, std::int64_t m, std::int64_t transforms,
                         Spread family) const {
  if (family == Spread::window || parameters_.run != 1 || parameters_.group != 1)
    throw Error(Status::invalid_plan,
                "nufft kernels: deterministic spreading needs points, tile_atomic or tile_owned, run 1 and group 1");
  const std::int64_t cells = shape_.fine[0] * shape_.fine[1] * shape_.fine[2], real = real_bytes();
  const std::int64_t sorted_bins = parameters_.order == Order::caller ? 0 : bins() * slices(m);
  const BufferRef bounds = work(arrays, kFixed), sums = work(arrays, kFixed, 16);
  const auto most = static_cast<std::uint32_t>(16 * shape_.multiprocessors);  // blocks, which loop over the items
  const auto launch = [&](const char* name, const char* text, int pass, std::int64_t items,
                          std::vector<LaunchArgument> arguments, std::int64_t bytes) {
    const int at = add(program, kernel(name, text, fixed_constants() + fmt::format("#define NUFFT_PASS {}\n", pass),
                                       256, 9 * 8, false));
    program.launches.push_back(
        {at, {std::min(blocks(items, 256 * 4), most), 1, 1}, std::move(arguments), "spread", bytes, 0});
  };
  for (std::int64_t t = 0; t < transforms; ++t) {
    Arrays one = arrays;
    one.values.byte_offset += t * m * 2 * real;
    one.grid.byte_offset += t * cells * 2 * real;
    launch("clear", nufft_scan_text, 0, 2 * cells + 2, {bounds, 2 * cells + 2, std::int64_t{0}}, 16 * cells);
    launch("fixed_bounds", nufft_fixed_text, 0, std::max(m, sorted_bins),
           {one.values, work(arrays, kOffsets), bounds, m, sorted_bins}, m * 2 * real);
    const BufferRef target = one.grid;
    one.grid = sums;
    emit_spreader(program, one, m, 1, family);
    program.launches.back().arguments.emplace_back(bounds);
    launch("fixed_add", nufft_fixed_text, 1, cells, {sums, bounds, target, m, cells}, cells * (16 + 4 * real));
  }
}

std::string Kernels::fixed_constants() const {
  if (!parameters_.deterministic) return "";
  double reach = 1;
  for (int d = 0; d < shape_.dim; ++d) reach *= bins_on_a_cell(window_, parameters_.bin[static_cast<std::size_t>(d)]);
  return fmt::format("#define NUFFT_FIXED 1\n#define NUFFT_REACH {:.17g}\n", reach);
}

void Kernels::emit_spreader(GpuProgram& program, const Arrays& arrays, std::int64_t m, std::int64_t transforms,
                            Spread family) const {
  const int w = shape_.width, dim = shape_.dim, real = real_bytes(), vector = 16 / real;
  const Parameters& p = parameters_;
  const std::int64_t cells = shape_.fine[0] * shape_.fine[1] * shape_.fine[2];
  const double stencil = dim == 1 ? w : dim == 2 ? w * w : static_cast<double>(w) * w * w;
  const std::int64_t bytes = transforms * (m * (4 * real + 4 + 2 * real) + cells * 4 * real);
  const BufferRef total = task_total(arrays, m);
  const auto launch = [&](KernelSource source, std::uint32_t grid, std::vector<LaunchArgument> arguments) {
    const int at = add(program, std::move(source));
    program.launches.push_back({at,
                                {grid, transforms_of(transforms), 1},
                                std::move(arguments),
                                "spread",
                                bytes,
                                4 * stencil * static_cast<double>(m * transforms)});
  };
  if (family == Spread::points) {
    check_whole_cells();
    const int numbers = (dim + 1) * w + (p.run == 2 ? (w + 2) / 2 * 2 - w : 0);
    if (p.run == 2) check_run();
    // A multiple of 16 bytes per warp keeps every warp's part aligned.
    const int warp = (numbers * 33 + dim * 32 * 4 / real + vector - 1) / vector * vector;
    const int warps = fitting_warps(4, static_cast<std::int64_t>(warp) * real);
    const std::string more = fmt::format(
        "#define NUFFT_LANES {}\n#define NUFFT_NUMBERS {}\n#define NUFFT_STAGE_WARP {}\n#define NUFFT_RUN {}\n"
        "#define NUFFT_WARPS {}\n{}",
        p.lanes, numbers, warp, p.run, warps, fixed_constants());
    launch(kernel(fmt::format("spread_points_l{}", p.lanes), nufft_spread_points_text, more, 32 * warps,
                  static_cast<std::int64_t>(warps) * warp * real),
           blocks(m, 32 * warps),
           {work(arrays, kRecords), work(arrays, kIndex), arrays.values, arrays.grid, m, m, cells});
    return;
  }
  check_width();
  if (p.order == Order::caller) throw Error(Status::invalid_plan, "nufft kernels: this spreader needs sorted points");
  const std::vector<LaunchArgument> arguments{
      work(arrays, kRecords), work(arrays, kIndex), work(arrays, kTasks), total, arrays.values, arrays.grid, m, cells};
  if (family == Spread::window) {
    const WindowTile tile =
        window_tile(p.fold ? divided_up(dim == 1 ? 1 : w, vector) * vector + 2 : 2 * (dim == 1 ? 1 : w), true);
    launch(kernel(fmt::format("spread_window_{}x{}_g{}", p.bin[0], dim == 3 ? p.bin[1] : 1, p.warps),
                  nufft_spread_window_text, tile.constants, tile.threads, 32ll * tile.stage * real),
           blocks(most_tasks(m), 1), arguments);
    return;
  }
  if (p.order != Order::bins) throw Error(Status::invalid_plan, "nufft kernels: tiles need order bins");
  std::int64_t tile = 1;
  for (int d = 0; d < dim; ++d) tile *= p.bin[static_cast<std::size_t>(d)] + w - 1;
  const bool atomic = family == Spread::tile_atomic;
  const int threads = atomic ? 32 * p.warps : 32;
  const int stage = divided_up((dim + 1) * w, vector) * vector;
  const std::string more = fmt::format(
      "#define NUFFT_ATOMIC {}\n#define NUFFT_THREADS {}\n#define NUFFT_STAGE {}\n#define NUFFT_CELLS {}\n{}",
      atomic ? 1 : 0, threads, stage, divided_up(dim == 1 ? w : w * w, 32), fixed_constants());
  const std::int64_t tile_bytes = (tile * (p.deterministic ? 16 : 2 * real) + 15) / 16 * 16;
  launch(kernel(atomic ? "spread_tile_atomic" : "spread_tile_owned", nufft_spread_tile_text, more, threads,
                tile_bytes + (atomic ? 0 : 32ll * stage * real)),
         blocks(most_tasks(m), 1), arguments);
}

KernelSource Kernels::matrix_interpolator() const {
  const int w = shape_.width, dim = shape_.dim;
  const Parameters& p = parameters_;
  const int kx = divided_up(p.bin[0] + w - 1, 4), ky = divided_up(p.bin[1] + w - 1, 4);
  if (dim == 1 || p.order != (dim == 2 ? Order::bins : Order::slide) || p.bin[2] != 1)
    throw Error(
        Status::invalid_plan,
        "nufft kernels: interp=matrix needs two dimensions and order bins, or three, order slide and bins of one "
        "cell along z");
  const int most = dim == 2 ? 36 : 20;  // two registers per lane each, and as many for sums in 3D
  if (kx * ky > most)
    throw Error(Status::invalid_plan,
                fmt::format("nufft kernels: interp=matrix keeps {} cells in registers, allowed are {}: smaller bins",
                            16 * kx * ky, 16 * most));
  const int row = (8 * (kx + ky) - 2 * w + (dim == 3 ? w : 0)) | 1;  // odd: no bank conflicts
  const int planes = dim == 3 ? w + 2 * p.unroll : 0;
  const std::string more = fmt::format(
      "#define NUFFT_KX {}\n#define NUFFT_KY {}\n#define NUFFT_ROW {}\n#define NUFFT_WARPS {}\n#define NUFFT_PLANES "
      "{}\n#define NUFFT_MIN_BLOCKS {}\n",
      kx, ky, row, p.warps, planes, p.min_blocks > 0 ? fmt::format(", {}", p.min_blocks) : "");
  const std::string text =
      std::string(nufft_matrix_text) + (dim == 2 ? nufft_interpolate_matrix_text : nufft_interpolate_planes_text);
  return kernel(fmt::format("interpolate_matrix_{}x{}", 4 * kx, 4 * ky), text, more, 32 * p.warps,
                (planes * kx * ky + row * p.warps) * 32ll * 8);
}

void Kernels::emit_interpolate(GpuProgram& program, const Arrays& arrays, std::int64_t m, std::int64_t transforms,
                               Interpolate family) const {
  if (m == 0) return;
  for (const GroupRun& run : group_runs(transforms, parameters_.group))
    run.size == 1 ? emit_interpolator(program, of_run(arrays, m, run), m, run.count, family)
                  : emit_interpolate_group(program, of_run(arrays, m, run), m, run, family);
}

void Kernels::emit_interpolator(GpuProgram& program, const Arrays& arrays, std::int64_t m, std::int64_t transforms,
                                Interpolate family) const {
  const int w = shape_.width, dim = shape_.dim, real = real_bytes(), vector = 16 / real;
  const Parameters& p = parameters_;
  const bool tiled = family == Interpolate::tiled, window = family == Interpolate::window,
             matrix = family == Interpolate::matrix, by_task = tiled || window || matrix;
  if (by_task)
    check_width();
  else
    check_whole_cells();
  if (tiled && p.order != Order::bins) throw Error(Status::invalid_plan, "nufft kernels: tiles need order bins");
  const int numbers = p.lanes > 1 ? dim * w * 33 + dim * 32 * 4 / real : dim == 3 ? w * 33 : 0;
  const int warp = divided_up(numbers, vector) * vector;
  const int warps = by_task ? p.warps : fitting_warps(p.warps, static_cast<std::int64_t>(warp) * real);
  const int threads = 32 * warps;
  const std::int64_t cells = shape_.fine[0] * shape_.fine[1] * shape_.fine[2];
  std::int64_t tile = 0;
  if (tiled) {
    tile = 1;
    for (int d = 0; d < dim; ++d) tile *= p.bin[static_cast<std::size_t>(d)] + w - 1;
    tile = (tile * 2 + vector - 1) / vector * vector;  // in real numbers
    if (real == 4) tile = (tile + 3) / 4 * 4;
  }
  KernelSource source;
  if (window) {
    const WindowTile held = window_tile(divided_up(dim == 1 ? 1 : w, vector) * vector, false);
    const std::int64_t sums = 2ll * p.warps * 32 * 33 + (p.warps > 1 ? 2ll * p.warps * 32 : 0);
    source = kernel(fmt::format("interpolate_window_{}x{}_g{}", p.bin[0], dim == 3 ? p.bin[1] : 1, p.warps),
                    nufft_interpolate_window_text, held.constants, held.threads, (32ll * held.stage + sums) * real);
  } else if (matrix) {
    source = matrix_interpolator();
  } else {
    const std::string more = fmt::format(
        "#define NUFFT_TILED {}\n#define NUFFT_THREADS {}\n#define NUFFT_LANES {}\n#define NUFFT_STAGE_WARP {}\n",
        tiled ? 1 : 0, threads, p.lanes, warp);
    source = kernel(fmt::format("interpolate_{}_l{}", tiled ? "tiled" : "points", p.lanes), nufft_interpolate_text,
                    more, threads, (tile + static_cast<std::int64_t>(warp) * warps) * real);
  }
  const int at = add(program, std::move(source));
  const BufferRef total = task_total(arrays, m);
  const BufferRef records = work(arrays, kRecords), index = work(arrays, kIndex), tasks = work(arrays, kTasks);
  std::vector<LaunchArgument> arguments{records, index, arrays.grid, arrays.values, m, m, cells};
  if (by_task) arguments = {records, index, tasks, total, arrays.grid, arrays.values, m, m, cells};
  const double stencil = dim == 1 ? w : dim == 2 ? w * w : static_cast<double>(w) * w * w;
  program.launches.push_back({at,
                              {by_task ? blocks(most_tasks(m), matrix && dim == 2 ? p.warps : 1) : blocks(m, threads),
                               transforms_of(transforms), 1},
                              std::move(arguments),
                              "interpolate",
                              transforms * (m * (4 * real + 4 + 2 * real) + cells * 2 * real),
                              4 * stencil * static_cast<double>(m * transforms)});
}

}  // namespace fourtune::generator::nufft
