// Launches of the kernels that process several transforms at once.
#include <fmt/format.h>

#include "generator/codegen/nufft/kernels.h"
#include "generator/codegen/nufft/launches.h"
#include "nufft_group_text.h"
#include "nufft_interleave_text.h"
#include "nufft_interpolate_group_text.h"
#include "nufft_spread_group_text.h"

namespace fourtune::generator::nufft {
std::vector<GroupRun> group_runs(std::int64_t transforms, int group) {
  std::vector<GroupRun> runs;
  for (std::int64_t first = 0; first < transforms; group /= 2) {
    const std::int64_t count = (transforms - first) / group;
    if (count > 0) runs.push_back({first, count, group});
    first += count * group;
  }
  return runs;
}

Arrays StageKernels::of_run(Arrays arrays, std::int64_t m, const GroupRun& run) const {
  const std::int64_t value = 2 * real_bytes(), cells = shape_.cells();
  arrays.values.byte_offset += run.first * m * value;
  arrays.grid.byte_offset += run.first * cells * value;
  return arrays;
}

// A kernel of the program, as launch_groups needs it.
struct StageKernels::GroupKernel {
  int at = 0;
  GroupBlock block;
  bool tiled = false, spreads = false;
};

std::string StageKernels::group_constants(const GroupBlock& block, int size, bool tiled) const {
  return fmt::format(
      "#define NUFFT_GROUP {}\n#define NUFFT_PIECES {}\n#define NUFFT_SIDES {}\n"
      "#define NUFFT_STAGE {}\n#define NUFFT_TILED {}\n#define NUFFT_INTERLEAVED {}\n",
      size, block.pieces, block.sides, block.stage, tiled ? 1 : 0, parameters_.interleave ? 1 : 0);
}

void StageKernels::emit_spread_group(GpuProgram& program, const Arrays& arrays, std::int64_t m, const GroupRun& run,
                                     Spread family) const {
  const bool tiled = family == Spread::tile_owned;
  const GroupBlock block = spread_group_block(shape_, parameters_, family, run.size);
  const std::string constants =
      group_constants(block, run.size, tiled) + fmt::format("#define NUFFT_THREADS {}\n", block.threads());
  const int at = add(program, kernel(fmt::format("spread_{}_g{}", tiled ? "tile_owned" : "points", run.size),
                                     std::string(nufft_group_text) + nufft_spread_group_text, constants, block));
  launch_groups(program, arrays, m, run, {at, block, tiled, true});
}

void StageKernels::emit_interpolate_group(GpuProgram& program, const Arrays& arrays, std::int64_t m,
                                          const GroupRun& run, Interpolate family) const {
  const bool tiled = family == Interpolate::tiled;
  const GroupBlock block = interpolate_group_block(shape_, parameters_, family, run.size);
  const std::string constants =
      group_constants(block, run.size, tiled) + fmt::format("#define NUFFT_THREADS {}\n#define NUFFT_UNROLL {}\n",
                                                            block.threads(), shape_.width <= 8 ? shape_.width : 1);
  const int at = add(program, kernel(fmt::format("interpolate_{}_g{}", tiled ? "tiled" : "points", run.size),
                                     std::string(nufft_group_text) + nufft_interpolate_group_text, constants, block));
  launch_groups(program, arrays, m, run, {at, block, tiled, false});
}

// Launches all groups at once or, with interleave, one after the other, and copies their values before or afterwards.
void StageKernels::launch_groups(GpuProgram& program, const Arrays& arrays, std::int64_t m, const GroupRun& run,
                                 const GroupKernel& of) const {
  const Parameters& p = parameters_;
  const int w = shape_.width, dim = shape_.dim, real = real_bytes();
  const std::int64_t cells = shape_.cells();
  const double stencil = dim == 1 ? w : dim == 2 ? w * w : static_cast<double>(w) * w * w;
  const auto launch = [&](const Arrays& at, std::int64_t groups_of_launch) {
    const std::int64_t all = groups_of_launch * run.size;
    const BufferRef values = p.interleave ? work(arrays, kFixed) : at.values;
    const BufferRef from = of.spreads ? values : at.grid, to = of.spreads ? at.grid : values;
    const BufferRef records = work(arrays, kRecords), index = work(arrays, kIndex);
    const std::int64_t parts = cells * of.block.pieces;
    std::vector<LaunchArgument> arguments{records, index, from, to, m, distances(m, parts)};
    if (of.tiled)
      arguments = {records, index, work(arrays, kTasks), task_total(arrays, m), from, to, m, distances(m, parts)};
    program.launches.push_back(
        {of.at,
         {of.tiled ? blocks(bins_.most_tasks(m), 1) : blocks(m, of.block.threads()),
          static_cast<std::uint32_t>(groups_of_launch), 1},
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
void StageKernels::emit_interleave(GpuProgram& program, const Arrays& arrays, std::int64_t m, int size,
                                   bool spreads) const {
  const std::string constants = group_constants(interleave_block(shape_, size), size, false) +
                                fmt::format("#define NUFFT_PASS {}\n", spreads ? 0 : 1);
  const int at =
      add(program, kernel(fmt::format("{}_g{}", spreads ? "interleave" : "separate", size),
                          std::string(nufft_group_text) + nufft_interleave_text, constants, plain_block(256, 0)));
  program.launches.push_back({at,
                              {blocks(m, 256), 1, 1},
                              {work(arrays, kFixed), arrays.values, m},
                              spreads ? "spread" : "interpolate",
                              4 * m * size * real_bytes(),
                              0});
}

}  // namespace fourtune::generator::nufft
