// The launches of GM, GM-sort and SM as the paper on cuFINUFFT has them; emit_sort.cpp has their sort.
#include <fmt/format.h>

#include "generator/codegen/nufft/kernels.h"
#include "generator/codegen/nufft/launches.h"
#include "nufft_published_points_text.h"
#include "nufft_published_sm_text.h"
#include "nufft_published_text.h"

namespace fourtune::generator::nufft {

std::int64_t StageKernels::folds_at(std::int64_t m) const { return padded(m * shape_.dim * real_bytes()); }

// The polynomial stays out of these kernels: they evaluate the window itself.
std::string StageKernels::published_constants() const {
  return fmt::format("#define NUFFT_BETA {:.17g}\n#define NUFFT_SORTED {}\n", shape_.semicircle,
                     parameters_.order == RecordOrder::caller ? 0 : 1);
}

void StageKernels::emit_published(GpuProgram& program, const Arrays& arrays, std::int64_t m, std::int64_t transforms,
                                  std::optional<Spread> family) const {
  const bool by_tasks = family == Spread::sm, sorted = parameters_.order != RecordOrder::caller;
  const char* name = by_tasks ? "sm" : sorted ? "gm_sort" : "gm";
  const std::int64_t cells = shape_.cells(), real = real_bytes();
  const Block block = plain_block(32 * parameters_.warps, by_tasks ? published_tile_bytes(shape_, parameters_) : 0);
  const std::string more = published_constants() + fmt::format("#define NUFFT_THREADS {}\n#define NUFFT_SPREADS {}\n",
                                                               block.threads(), family ? 1 : 0);
  const int at = add(program, kernel(fmt::format("{}_{}", family ? "spread" : "interpolate", name),
                                     std::string(nufft_published_text) +
                                         (by_tasks ? nufft_published_sm_text : nufft_published_points_text),
                                     more, block, false));
  std::vector<LaunchArgument> arguments{work(arrays, kRecords), work(arrays, kRecords, folds_at(m)),
                                        work(arrays, kIndex)};
  if (by_tasks) arguments.emplace_back(ArgumentStruct{{work(arrays, kTasks), task_total(arrays, m)}});
  arguments.insert(arguments.end(), {arrays.values, arrays.grid, m, distances(m, cells)});
  double stencil = 1;
  for (int d = 0; d < shape_.dim; ++d) stencil *= shape_.width;
  const std::int64_t index = sorted ? (shape_.large_counts ? 8 : 4) : 0;
  program.launches.push_back(
      {at,
       {by_tasks ? blocks(bins_.most_tasks(m), 1) : blocks(m, block.threads()), transforms_of(transforms), 1},
       std::move(arguments),
       family ? "spread" : "interpolate",
       transforms * (m * (shape_.dim * real + index + 2 * real) + cells * (family ? 4 : 2) * real),
       4 * stencil * static_cast<double>(m * transforms)});
}

}  // namespace fourtune::generator::nufft
