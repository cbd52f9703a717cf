// The launches of each stage.
#include <fmt/format.h>

#include <algorithm>

#include "fourtune/status.h"
#include "generator/nufft/kernels.h"
#include "nufft_interpolate_text.h"
#include "nufft_interpolate_window_text.h"
#include "nufft_points_text.h"
#include "nufft_scan_text.h"
#include "nufft_spread_points_text.h"
#include "nufft_spread_tile_text.h"
#include "nufft_spread_window_text.h"

namespace fourtune::generator::nufft {
namespace {

std::uint32_t blocks(std::int64_t work, std::int64_t per_block) {
  const std::int64_t n = std::max<std::int64_t>(1, (work + per_block - 1) / per_block);
  if (n >= std::int64_t{1} << 31)
    throw Error(Status::unsupported, fmt::format("nufft kernels: {} blocks in a launch", n));
  return static_cast<std::uint32_t>(n);
}

// Index of the kernel in the program, which gets it if it is new.
int add(GpuProgram& program, KernelSource source) {
  const auto found = std::find(program.kernels.begin(), program.kernels.end(), source);
  if (found != program.kernels.end()) return static_cast<int>(found - program.kernels.begin());
  program.kernels.push_back(std::move(source));
  return static_cast<int>(program.kernels.size()) - 1;
}

BufferRef work(const Arrays& arrays, Workspace which, std::int64_t byte_offset = 0) {
  return {BufferRef::Where::workspace, arrays.workspace + which, byte_offset};
}

std::uint32_t transforms_of(std::int64_t transforms) {
  if (transforms < 1 || transforms > 65535)
    throw Error(Status::unsupported,
                fmt::format("nufft kernels: {} transforms in a launch, allowed are 1 to 65535", transforms));
  return static_cast<std::uint32_t>(transforms);
}
int divided_up(int a, int b) { return (a + b - 1) / b; }

}  // namespace

void Kernels::emit_sort(GpuProgram& program, const Arrays& arrays, std::int64_t m,
                        const std::array<Map, 3>& map) const {
  if (!shape_.large_counts && m >= std::int64_t{1} << 31)
    throw Error(Status::unsupported, "nufft kernels: 2^31 points or more need large_counts");
  const std::int64_t count = shape_.large_counts ? 8 : 4;
  const bool gather = parameters_.placement != Placement::scatter && parameters_.order != Order::caller;
  const bool staged = gather && parameters_.placement == Placement::staged;
  const auto launch = [&](const char* name, const char* text, int pass, std::uint32_t grid,
                          std::vector<LaunchArgument> arguments, std::int64_t bytes) {
    const std::string more = fmt::format(
        "#define NUFFT_PASS {}\n#define NUFFT_CHECK {}\n#define NUFFT_SORTED {}\n"
        "#define NUFFT_KEEP {}\n",
        pass, pass == 0 && parameters_.check ? 1 : 0, parameters_.order != Order::caller ? 1 : 0,
        staged   ? 2
        : gather ? 1
                 : 0);
    const int at = add(program, kernel(name, text, more, 256, text == nufft_scan_text ? 9 * 8 : 0, false));
    program.launches.push_back({at, {grid, 1, 1}, std::move(arguments), "sort", bytes, 0});
  };
  const auto clear = [&](BufferRef at, std::int64_t bytes, std::int64_t value) {
    launch("clear", nufft_scan_text, 0, std::min(blocks(bytes / 8, 256 * 8), 4096u), {at, (bytes + 7) / 8, value},
           bytes);
  };
  const auto scan = [&](BufferRef values, std::int64_t n) {
    const BufferRef sums = work(arrays, kSums);
    const std::uint32_t tiles = blocks(n, 2048);
    launch("scan_tiles", nufft_scan_text, 1, tiles, {values, sums, n}, n * count);
    launch("scan_sums", nufft_scan_text, 2, 1, {sums, std::int64_t{tiles}}, tiles * count * 2);
    launch("scan_apply", nufft_scan_text, 3, tiles, {values, sums, n}, n * count * 2);
  };
  const BufferRef offsets = work(arrays, kOffsets), parts = work(arrays, kOffsets, (bins() + 1) * count);
  // Bins of the points are kept where the records come later.
  const BufferRef place = work(arrays, kTasks), status = work(arrays, kStatus), of_point = work(arrays, kRecords);
  std::vector<LaunchArgument> maps;
  for (const Map& one : map) maps.insert(maps.end(), {one.centre, one.factor, one.factor_low});
  const auto with_maps = [&](std::vector<LaunchArgument> arguments) {
    arguments.insert(arguments.end(), maps.begin(), maps.end());
    return arguments;
  };
  const std::int64_t coordinates = m * shape_.dim * real_bytes(),
                     records = m * (shape_.precision == Precision::f32 ? 16 : 32);
  const bool sorted = parameters_.order != Order::caller;
  clear(status, 16, -1);
  // One more word than needed may be cleared where counts are 32 bits: parts follows, written later.
  clear(offsets, (bins() + 1) * count, 0);
  if (m > 0 && (sorted || parameters_.check))
    launch("count", nufft_points_text, 0, blocks(m, 256),
           with_maps({arrays.points[0], arrays.points[1], arrays.points[2], offsets, place, of_point,
                      work(arrays, kScratch), status, m}),
           coordinates + (gather ? 2 : 1) * m * count + (staged ? records : 0));
  if (sorted) scan(offsets, bins() + 1);
  if (m > 0 && gather) {
    launch("index", nufft_points_text, 2, blocks(m, 256), {offsets, place, of_point, work(arrays, kIndex), m},
           3 * m * count);
    if (staged)
      launch("fetch_records", nufft_points_text, 4, blocks(m, 256),
             {work(arrays, kScratch), work(arrays, kIndex), work(arrays, kRecords), m}, m * count + 2 * records);
    else
      launch("fetch", nufft_points_text, 3, blocks(m, 256),
             with_maps({arrays.points[0], arrays.points[1], arrays.points[2], work(arrays, kIndex),
                        work(arrays, kRecords), status, m}),
             coordinates + m * count + records);
  } else if (m > 0) {
    launch("place", nufft_points_text, 1, blocks(m, 256),
           with_maps({arrays.points[0], arrays.points[1], arrays.points[2], offsets, place, work(arrays, kRecords),
                      work(arrays, kIndex), status, m}),
           coordinates + 2 * m * count + records);
  }
  if (!sorted) return;
  launch("count_tasks", nufft_scan_text, 4, blocks(groups() + 1, 256), {offsets, parts, groups()},
         groups() * count * 2);
  scan(parts, groups() + 1);
  launch("list_tasks", nufft_scan_text, 5, blocks(groups(), 256), {offsets, parts, work(arrays, kTasks), groups()},
         groups() * count * 2);
}

void Kernels::check_run() const {
  if (shape_.precision != Precision::f32 || shape_.dim == 1 || shape_.fine[0] % 2 != 0)
    throw Error(Status::invalid_plan,
                "nufft kernels: run 2 needs single precision, 2 or 3 dimensions and an even number of cells in x");
}

Kernels::WindowTile Kernels::window_tile(int numbers, int run) const {
  const int w = shape_.width, dim = shape_.dim, vector = 16 / real_bytes();
  const Parameters& p = parameters_;
  if (p.order != Order::slide || (dim > 1 && p.bin[static_cast<std::size_t>(dim - 1)] != 1))
    throw Error(Status::invalid_plan, "nufft kernels: register windows need order slide and bins of one cell along it");
  if (run == 2) check_run();
  if (run == 2 && p.bin[0] % 2 != 0) throw Error(Status::invalid_plan, "nufft kernels: run 2 needs an even bin in x");
  const int tx = divided_up(p.bin[0] + w - 1, run) * run, ty = dim == 3 ? p.bin[1] + w - 1 : 1;
  WindowTile tile;
  tile.threads = 32 * p.warps;
  tile.stage = divided_up(numbers + tx + ty, vector) * vector;
  tile.constants = fmt::format(
      "#define NUFFT_TX {}\n#define NUFFT_TY {}\n#define NUFFT_PLANES {}\n#define NUFFT_CELLS {}\n#define NUFFT_RUN "
      "{}\n"
      "#define NUFFT_WARPS {}\n#define NUFFT_STAGE {}\n#define NUFFT_WEIGHTS {}\n#define NUFFT_SAME_X {}\n"
      "#define NUFFT_UNROLL {}\n#define NUFFT_PERIOD {}\n#define NUFFT_MIN_BLOCKS {}\n",
      tx, ty, dim == 1 ? 1 : w, divided_up(tx * ty, tile.threads * run) * run, run, p.warps, tile.stage, numbers,
      tile.threads * run % tx == 0 ? 1 : 0, p.unroll, dim == 1 ? 1 : shape_.fine[static_cast<std::size_t>(dim - 1)],
      p.min_blocks > 0 ? fmt::format(", {}", p.min_blocks) : "");
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
  const int w = shape_.width, dim = shape_.dim, real = real_bytes(), vector = 16 / real;
  const Parameters& p = parameters_;
  const std::int64_t cells = shape_.fine[0] * shape_.fine[1] * shape_.fine[2];
  const double stencil = dim == 1 ? w : dim == 2 ? w * w : static_cast<double>(w) * w * w;
  const std::int64_t bytes = transforms * (m * (4 * real + 4 + 2 * real) + cells * 4 * real);
  const BufferRef total = work(arrays, kOffsets, (bins() + 1 + groups()) * (shape_.large_counts ? 8 : 4));
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
    const int numbers = (dim + 1) * w + (p.run == 2 ? (w + 2) / 2 * 2 - w : 0);
    if (p.run == 2) check_run();
    // A whole number of 16 bytes a warp keeps every warp's part aligned.
    const int warp = (numbers * 33 + dim * 32 * 4 / real + vector - 1) / vector * vector;
    const std::string more = fmt::format(
        "#define NUFFT_LANES {}\n#define NUFFT_NUMBERS {}\n#define NUFFT_STAGE_WARP {}\n#define NUFFT_RUN {}\n",
        p.lanes, numbers, warp, p.run);
    launch(kernel(fmt::format("spread_points_l{}", p.lanes), nufft_spread_points_text, more, 128, 4ll * warp * real),
           blocks(m, 128), {work(arrays, kRecords), work(arrays, kIndex), arrays.values, arrays.grid, m, m, cells});
    return;
  }
  if (p.order == Order::caller) throw Error(Status::invalid_plan, "nufft kernels: this spreader needs sorted points");
  const std::vector<LaunchArgument> arguments{
      work(arrays, kRecords), work(arrays, kIndex), work(arrays, kTasks), total, arrays.values, arrays.grid, m, cells};
  if (family == Spread::window) {
    const WindowTile tile = window_tile(2 * (dim == 1 ? 1 : w), p.run);
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
  const std::string more =
      fmt::format("#define NUFFT_ATOMIC {}\n#define NUFFT_THREADS {}\n#define NUFFT_STAGE {}\n#define NUFFT_CELLS {}\n",
                  atomic ? 1 : 0, threads, stage, divided_up(dim == 1 ? w : w * w, 32));
  const std::int64_t tile_bytes = (tile * 2 * real + 15) / 16 * 16;
  launch(kernel(atomic ? "spread_tile_atomic" : "spread_tile_owned", nufft_spread_tile_text, more, threads,
                tile_bytes + (atomic ? 0 : 32ll * stage * real)),
         blocks(most_tasks(m), 1), arguments);
}

void Kernels::emit_interpolate(GpuProgram& program, const Arrays& arrays, std::int64_t m, std::int64_t transforms,
                               Interpolate family) const {
  if (m == 0) return;
  const int w = shape_.width, dim = shape_.dim, real = real_bytes(), vector = 16 / real;
  const Parameters& p = parameters_;
  const bool tiled = family == Interpolate::tiled, window = family == Interpolate::window;
  if (tiled && p.order != Order::bins) throw Error(Status::invalid_plan, "nufft kernels: tiles need order bins");
  const int threads = 32 * p.warps;
  const int warp = divided_up(dim * w * 33 + dim * 32 * 4 / real, vector) * vector;
  const std::int64_t cells = shape_.fine[0] * shape_.fine[1] * shape_.fine[2];
  std::int64_t tile = 0;
  if (tiled) {
    tile = 1;
    for (int d = 0; d < dim; ++d) tile *= p.bin[static_cast<std::size_t>(d)] + w - 1;
    tile = (tile * 2 + vector - 1) / vector * vector;  // reals
    if (real == 4) tile = (tile + 3) / 4 * 4;
  }
  KernelSource source;
  if (window) {
    const WindowTile held = window_tile(divided_up(dim == 1 ? 1 : w, vector) * vector, 1);
    const std::int64_t sums = 2ll * p.warps * 32 * 33 + (p.warps > 1 ? 2ll * p.warps * 32 : 0);
    source = kernel(fmt::format("interpolate_window_{}x{}_g{}", p.bin[0], dim == 3 ? p.bin[1] : 1, p.warps),
                    nufft_interpolate_window_text, held.constants, held.threads, (32ll * held.stage + sums) * real);
  } else {
    const std::string more = fmt::format(
        "#define NUFFT_TILED {}\n#define NUFFT_THREADS {}\n#define NUFFT_LANES {}\n#define NUFFT_STAGE_WARP {}\n",
        tiled ? 1 : 0, threads, p.lanes, warp);
    source = kernel(fmt::format("interpolate_{}_l{}", tiled ? "tiled" : "points", p.lanes), nufft_interpolate_text,
                    more, threads, (tile + static_cast<std::int64_t>(warp) * p.warps) * real);
  }
  const int at = add(program, std::move(source));
  std::vector<LaunchArgument> arguments{work(arrays, kRecords), work(arrays, kIndex)};
  if (tiled || window) {
    arguments.emplace_back(work(arrays, kTasks));
    arguments.emplace_back(work(arrays, kOffsets, (bins() + 1 + groups()) * (shape_.large_counts ? 8 : 4)));
  }
  arguments.insert(arguments.end(), {arrays.grid, arrays.values, m, m, cells});
  const double stencil = dim == 1 ? w : dim == 2 ? w * w : static_cast<double>(w) * w * w;
  program.launches.push_back(
      {at,
       {tiled || window ? blocks(most_tasks(m), 1) : blocks(m, threads), transforms_of(transforms), 1},
       std::move(arguments),
       "interpolate",
       transforms * (m * (4 * real + 4 + 2 * real) + cells * 2 * real),
       4 * stencil * static_cast<double>(m * transforms)});
}

}  // namespace fourtune::generator::nufft
