// Launches of the kernels that process several transforms at once.
#include <fmt/format.h>

#include <algorithm>

#include "fourtune/status.h"
#include "generator/codegen/nufft/kernels.h"
#include "generator/codegen/nufft/launches.h"
#include "nufft_group_text.h"
#include "nufft_interleave_text.h"
#include "nufft_interpolate_group_text.h"
#include "nufft_spread_group_text.h"

namespace fourtune::generator::nufft {
namespace {

[[noreturn]] void refuse(const std::string& why) { throw Error(Status::invalid_plan, "nufft kernels: " + why); }
std::int64_t divided_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

}  // namespace

std::vector<GroupRun> group_runs(std::int64_t transforms, int group) {
  std::vector<GroupRun> runs;
  for (std::int64_t first = 0; first < transforms; group /= 2) {
    const std::int64_t count = (transforms - first) / group;
    if (count > 0) runs.push_back({first, count, group});
    first += count * group;
  }
  return runs;
}

Arrays Kernels::of_run(Arrays arrays, std::int64_t m, const GroupRun& run) const {
  const std::int64_t value = 2 * real_bytes(), cells = shape_.fine[0] * shape_.fine[1] * shape_.fine[2];
  arrays.values.byte_offset += run.first * m * value;
  arrays.grid.byte_offset += run.first * cells * value;
  return arrays;
}

// Constants of both kernels, and the sizes of their parts of shared memory in bytes.
struct Kernels::GroupShape {
  std::string constants;
  int pieces = 1, sides = 1;
  std::int64_t tile_bytes = 0, warp_bytes = 0;
};
// A kernel of the program, as launch_groups needs it.
struct Kernels::GroupKernel {
  int at = 0, warps = 1;
  bool tiled = false, spreads = false;
  int pieces = 1;
};
Kernels::GroupShape Kernels::group_shape(int size, bool tiled, int numbers) const {
  const Parameters& p = parameters_;
  if (shape_.width > kMaxWidth) refuse(fmt::format("width {}, groups of transforms go to {}", shape_.width, kMaxWidth));
  if (p.run != 1 || p.deterministic) refuse("groups of transforms need run 1 and no deterministic sums");
  if (tiled && p.order != Order::bins) refuse("tiles need order bins");
  GroupShape shape;
  const int real = real_bytes(), vector = 16 / real, w = shape_.width;
  shape.pieces = size * 2 * real / 16;
  shape.sides = std::max(1, 8 / shape.pieces);
  std::int64_t tile = (p.bin[0] + w - 1) * shape.pieces;
  for (int d = 1; d < shape_.dim; ++d) tile *= p.bin[static_cast<std::size_t>(d)] + w - 1;
  std::int64_t stage = divided_up(numbers, vector) * vector;
  if (stage / vector % 2 == 0) stage += vector;  // an odd multiple of 16 bytes: no bank conflicts
  shape.tile_bytes = tiled ? tile * 16 : 0;
  shape.warp_bytes = 32 * stage * real;
  shape.constants = fmt::format(
      "#define NUFFT_GROUP {}\n#define NUFFT_PIECES {}\n#define NUFFT_SIDES {}\n"
      "#define NUFFT_STAGE {}\n#define NUFFT_TILED {}\n#define NUFFT_INTERLEAVED {}\n",
      size, shape.pieces, shape.sides, stage, tiled ? 1 : 0, p.interleave ? 1 : 0);
  return shape;
}

void Kernels::emit_spread_group(GpuProgram& program, const Arrays& arrays, std::int64_t m, const GroupRun& run,
                                Spread family) const {
  if (family != Spread::points && family != Spread::tile_owned)
    refuse("groups of transforms are for spread points and tile_owned");
  const bool tiled = family == Spread::tile_owned;
  const GroupShape shape = group_shape(run.size, tiled, 2 * run.size + shape_.dim * shape_.width);
  int warps = tiled ? 1 : 4;
  while (warps > 1 && warps * shape.warp_bytes > 100 * 1024) warps /= 2;
  const int at = add(program, kernel(fmt::format("spread_{}_g{}", tiled ? "tile_owned" : "points", run.size),
                                     std::string(nufft_group_text) + nufft_spread_group_text,
                                     shape.constants + fmt::format("#define NUFFT_THREADS {}\n", 32 * warps),
                                     32 * warps, shape.tile_bytes + warps * shape.warp_bytes));
  launch_groups(program, arrays, m, run, {at, warps, tiled, true, shape.pieces});
}

void Kernels::emit_interpolate_group(GpuProgram& program, const Arrays& arrays, std::int64_t m, const GroupRun& run,
                                     Interpolate family) const {
  if (family != Interpolate::points && family != Interpolate::tiled)
    refuse("groups of transforms are for interp points and tiled");
  const bool tiled = family == Interpolate::tiled;
  const int w = shape_.width, dim = shape_.dim;
  const GroupShape shape = group_shape(run.size, tiled, std::max(2 * run.size, dim * w + (tiled ? 1 : dim)));
  int warps = parameters_.warps;
  while (warps > 1 && shape.tile_bytes + warps * shape.warp_bytes > 200 * 1024) warps /= 2;
  const int at =
      add(program, kernel(fmt::format("interpolate_{}_g{}", tiled ? "tiled" : "points", run.size),
                          std::string(nufft_group_text) + nufft_interpolate_group_text,
                          shape.constants + fmt::format("#define NUFFT_THREADS {}\n#define NUFFT_UNROLL {}\n",
                                                        32 * warps, w <= 8 ? w : 1),
                          32 * warps, shape.tile_bytes + warps * shape.warp_bytes));
  launch_groups(program, arrays, m, run, {at, warps, tiled, false, shape.pieces});
}

// Launches all groups at once or, with interleave, one after the other, and copies their values before or afterwards.
void Kernels::launch_groups(GpuProgram& program, const Arrays& arrays, std::int64_t m, const GroupRun& run,
                            const GroupKernel& of) const {
  const Parameters& p = parameters_;
  const int w = shape_.width, dim = shape_.dim, real = real_bytes();
  const std::int64_t cells = shape_.fine[0] * shape_.fine[1] * shape_.fine[2];
  const double stencil = dim == 1 ? w : dim == 2 ? w * w : static_cast<double>(w) * w * w;
  const auto launch = [&](const Arrays& at, std::int64_t groups_of_launch) {
    const std::int64_t all = groups_of_launch * run.size;
    std::vector<LaunchArgument> arguments{work(arrays, kRecords), work(arrays, kIndex)};
    if (of.tiled) {
      arguments.emplace_back(work(arrays, kTasks));
      arguments.emplace_back(task_total(arrays, m));
    }
    const BufferRef values = p.interleave ? work(arrays, kFixed) : at.values;
    arguments.insert(arguments.end(),
                     {of.spreads ? values : at.grid, of.spreads ? at.grid : values, m, m, cells * of.pieces});
    program.launches.push_back(
        {of.at,
         {of.tiled ? blocks(most_tasks(m), 1) : blocks(m, 32 * of.warps), static_cast<std::uint32_t>(groups_of_launch),
          1},
         std::move(arguments),
         of.spreads ? "spread" : "interpolate",
         groups_of_launch * m * (4 * real + 4) + all * (m * 2 * real + cells * (of.spreads ? 4 : 2) * real),
         4 * stencil * static_cast<double>(m * all)});
  };
  if (!p.interleave) return launch(arrays, run.count);
  for (std::int64_t i = 0; i < run.count; ++i) {
    const Arrays one = of_run(arrays, m, {i * run.size, 1, run.size});
    if (of.spreads) emit_interleave(program, one, m, run.size, true);
    launch(one, 1);
    if (!of.spreads) emit_interleave(program, one, m, run.size, false);
  }
}

// Copies between the caller's values and the interleaved copy of one group: to the copy before spreading, from it after
// interpolation.
void Kernels::emit_interleave(GpuProgram& program, const Arrays& arrays, std::int64_t m, int size, bool spreads) const {
  const GroupShape shape = group_shape(size, false, 1);
  const int at =
      add(program, kernel(fmt::format("{}_g{}", spreads ? "interleave" : "separate", size),
                          std::string(nufft_group_text) + nufft_interleave_text,
                          shape.constants + fmt::format("#define NUFFT_PASS {}\n", spreads ? 0 : 1), 256, 0));
  program.launches.push_back({at,
                              {blocks(m, 256), 1, 1},
                              {work(arrays, kFixed), arrays.values, m},
                              spreads ? "spread" : "interpolate",
                              4 * m * size * real_bytes(),
                              0});
}

}  // namespace fourtune::generator::nufft
