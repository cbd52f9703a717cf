// The launches of the sort.
#include <fmt/format.h>

#include <algorithm>

#include "fourtune/status.h"
#include "generator/codegen/nufft/kernels.h"
#include "generator/codegen/nufft/launches.h"
#include "generator/plan/nufft/rules.h"
#include "nufft_block_sums_text.h"
#include "nufft_locate_text.h"
#include "nufft_points_text.h"
#include "nufft_published_sort_text.h"
#include "nufft_published_text.h"
#include "nufft_sort_text.h"

namespace fourtune::generator::nufft {
namespace {

constexpr int kPlaceThreads = 1024, kCountPoints = 2048, kCountThreads = 512, kFineThreads = 1024;
constexpr std::int64_t kHeldBytes = 64;   // bytes of points that a thread of the second level reads at a time
constexpr std::int64_t kMostBatches = 8;  // for sorting the points of large coarse bins
// Batch size in bytes that fills a device; smaller batches leave most of it idle (a million clustered points took 606
// us on an H200 in eight batches, and 106 us in one).
constexpr std::int64_t kFullBatch = std::int64_t{128} << 20;

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

}  // namespace

ArgumentStruct maps_argument(const std::array<Map, 3>& maps) {
  ArgumentStruct argument;
  for (const Map& one : maps)
    argument.members.insert(argument.members.end(), {one.centre, one.centre_low, one.factor, one.factor_low});
  return argument;
}

// No other struct of these kernels is twelve real numbers.
bool is_maps(const LaunchArgument& argument) {
  const auto* all = std::get_if<ArgumentStruct>(&argument);
  return all != nullptr && all->members.size() == 12 && std::holds_alternative<double>(all->members[0]);
}

// The target of the stage's launches, and what they have in common.
struct StageKernels::SortLaunches {
  const StageKernels& kernels;
  GpuProgram& program;
  ArgumentStruct maps;

  void operator()(const char* name, const std::string& text, const std::string& constants, std::uint32_t grid,
                  int threads, std::int64_t shared, std::vector<LaunchArgument> arguments, std::int64_t bytes) const {
    const int at = add(program, kernels.kernel(name, text, constants, plain_block(threads, shared), false));
    program.launches.push_back({at, {grid, 1, 1}, std::move(arguments), "sort", bytes, 0});
  }
  // The first arguments of kernels that read coordinates.
  std::vector<LaunchArgument> with_points(const Arrays& arrays, std::int64_t m,
                                          std::vector<LaunchArgument> rest) const {
    const ArgumentStruct points{{arrays.points[0], arrays.points[1], arrays.points[2], m}};
    rest.insert(rest.begin(), {points, maps});
    return rest;
  }
  // Clears so many words; marks: and sets the status.
  void clear(BufferRef at, std::int64_t words, BufferRef status, bool marks = true) const {
    const int kernel = add(program, kernels.clear_kernel());
    program.launches.push_back({kernel,
                                {std::min(blocks(words, 256 * 8), 4096u), 1, 1},
                                {at, words, status, std::int64_t{marks ? 3 : 0}},
                                "sort",
                                8 * words,
                                0});
  }
};

std::array<std::int64_t, kWorkspaces> StageKernels::workspace_bytes(std::int64_t m, bool tasks) const {
  const std::int64_t count = shape_.large_counts ? 8 : 4, task = shape_.large_counts ? 24 : 16;
  const std::int64_t all = bins_.slices(m), records = bins_.layout().bytes(m);
  const bool sorted = parameters_.order != RecordOrder::caller;
  if (parameters_.placement == Placement::index) return index_workspace_bytes(m, tasks);
  const bool two_level = sorted && parameters_.placement == Placement::two_level;
  const SortLevels levels = two_level ? bins_.levels(m) : SortLevels{};
  const std::int64_t list = tasks ? padded(bins_.most_tasks(m) * task) + count : 0;
  // One level: the bin of each point is kept where the records are stored later, its place there in scratch, behind
  // what is staged.
  const bool staged = parameters_.placement == Placement::staged;
  const std::int64_t scratch = two_level ? 0 : (sorted && staged ? padded(records) : 0) + m * count;
  const std::int64_t state = std::max(bins_.state_bytes(m, true, false), bins_.state_bytes(m, true, true));
  return {
      padded(two_level ? records : std::max(records, m * count)),
      padded(m * count),
      padded(list),
      padded((bins_.count() * all + 2) * count) + padded(state),
      padded(bins_.state_bytes(m, false, true)) + padded((5 * levels.most_coarse + 3 + levels.most_chunks(m)) * count),
      32,
      padded(scratch),
      parameters_.deterministic                         ? 16 + shape_.fine[0] * shape_.fine[1] * shape_.fine[2] * 16
      : parameters_.group > 1 && parameters_.interleave ? padded(m * parameters_.group * 2 * real_bytes())
                                                        : 16};
}

BufferRef StageKernels::task_total(const Arrays& arrays, std::int64_t m) const {
  return work(arrays, kTasks, padded(bins_.most_tasks(m) * (shape_.large_counts ? 24 : 16)));
}

void StageKernels::emit_offsets(SortLaunches& out, const Arrays& arrays, std::int64_t m, bool sums, bool list,
                                const BufferRef& state) const {
  const std::int64_t count = shape_.large_counts ? 8 : 4, all = bins_.count() * bins_.slices(m);
  const std::int64_t tile = bins_.tile_of_offsets(sums, list);
  const ArgumentStruct division{{all, bins_.count() / bins_.groups(), tile, std::int64_t{parameters_.cap},
                                 bins_.groups(), std::int64_t{sums}, std::int64_t{list}}};
  const std::int64_t groups = bins_.groups() * bins_.slices(m);
  out.program.launches.push_back({add(out.program, offsets_kernel()),
                                  {blocks(all, tile), 1, 1},
                                  {work(arrays, kOffsets), list ? work(arrays, kTasks) : work(arrays, kOffsets),
                                   list ? task_total(arrays, m) : work(arrays, kOffsets), state, division},
                                  "sort",
                                  (sums ? 2 * all : groups) * count + (list ? bins_.most_tasks(m) * (4 * count) : 0),
                                  0});
}

std::int64_t StageKernels::large_bytes(std::int64_t m, std::int64_t points) const {
  const bool sorted = parameters_.order != RecordOrder::caller;
  if (!sorted || points == 0 || parameters_.placement != Placement::two_level) return 0;
  const SortLevels l = bins_.levels(m);
  return l.final ? 0 : padded(points * l.staged);
}

std::int64_t StageKernels::least_large_scratch(std::int64_t m, const LargeBins& large) const {
  return large_bytes(m, std::min(large.points, large.largest + ceil_div(large.points, kMostBatches)));
}

// Batches are launches that are made anew in every set_points: with copies of a quarter of the points 1.8 M clustered
// ones took 693 us and 3.3 M radial ones 554 us, where 239 and 284 do with room for all (H100).
std::int64_t StageKernels::large_scratch(std::int64_t m, const LargeBins& large) const {
  return std::min(large_bytes(m, large.points), std::max(least_large_scratch(m, large), kFullBatch));
}

void StageKernels::emit_sort(GpuProgram& program, const Arrays& arrays, std::int64_t m, const std::array<Map, 3>& map,
                             std::int64_t scratch, bool tasks, std::int64_t start) const {
  require(broken_sort_rule(shape_, parameters_, m));
  SortLaunches out{*this, program, maps_argument(map)};
  if (shape_.period > 0) out.maps.members.emplace_back(start);
  const bool sorted = parameters_.order != RecordOrder::caller;
  if (parameters_.placement == Placement::index) {
    emit_index_sort(out, arrays, m);
    if (sorted && tasks) emit_tasks(program, arrays, m);
  } else if (sorted && m > 0 && parameters_.placement == Placement::two_level) {
    emit_two_levels(out, arrays, m, scratch);
    if (tasks) emit_offsets(out, arrays, m, false, true, work(arrays, kSums));
  } else {
    emit_one_level(out, arrays, m, tasks);
  }
}

void StageKernels::emit_large_bins(GpuProgram& program, const Arrays& arrays, std::int64_t m, const LargeBins& large,
                                   std::int64_t scratch, bool tasks) const {
  SortLaunches out{*this, program, {}};
  const std::int64_t capacity = scratch / bins_.levels(m).staged;
  const std::int64_t step = capacity >= large.points ? large.points : capacity - large.largest;
  if (step < 1) throw Error(Status::internal, "no room for the largest coarse bin");
  for (std::int64_t from = 0; from < large.points; from += step) emit_second_level(out, arrays, m, scratch, from, step);
  if (tasks) emit_tasks(program, arrays, m);
}

void StageKernels::emit_tasks(GpuProgram& program, const Arrays& arrays, std::int64_t m) const {
  if (parameters_.order == RecordOrder::caller) return;
  SortLaunches out{*this, program, {}};
  const BufferRef state = work(arrays, kSums);
  out.clear(state, bins_.state_bytes(m, false, true) / 8, state, false);
  emit_offsets(out, arrays, m, false, true, state);
}

void StageKernels::emit_one_level(SortLaunches& out, const Arrays& arrays, std::int64_t m, bool tasks) const {
  const std::int64_t count = shape_.large_counts ? 8 : 4;
  const bool sorted = parameters_.order != RecordOrder::caller;
  const bool staged = sorted && parameters_.placement == Placement::staged;
  const bool gather = staged || (sorted && parameters_.placement == Placement::fetch);
  const auto launch = [&](const char* name, int pass, std::vector<LaunchArgument> arguments, std::int64_t bytes) {
    const std::string constants =
        fmt::format("#define NUFFT_PASS {}\n#define NUFFT_CHECK {}\n#define NUFFT_SORTED {}\n#define NUFFT_KEEP {}\n",
                    pass, pass == 0 && parameters_.check ? 1 : 0, sorted ? 1 : 0,
                    staged   ? 2
                    : gather ? 1
                             : 0);
    out(name, std::string(nufft_locate_text) + nufft_points_text, constants, blocks(m, 256), 256, 0,
        std::move(arguments), bytes);
  };
  const BufferRef offsets = work(arrays, kOffsets), status = work(arrays, kStatus);
  const std::int64_t coordinates = m * shape_.dim * real_bytes(), records = bins_.layout().bytes(m);
  const BufferRef place = work(arrays, kScratch, staged ? padded(records) : 0), of_point = work(arrays, kRecords);
  // Counts, and behind them what blocks tell each other.
  const std::int64_t counts = padded((bins_.count() * bins_.slices(m) + 2) * count);
  const bool at_once = tasks && bins_.lists_at_once();
  out.clear(offsets, (counts + bins_.state_bytes(m, true, at_once)) / 8, status);
  if (m > 0 && (sorted || parameters_.check))
    launch("count", 0, out.with_points(arrays, m, {offsets, place, of_point, work(arrays, kScratch), status}),
           coordinates + (gather ? 2 : 1) * m * count + (staged ? records : 0));
  if (sorted) emit_offsets(out, arrays, m, true, at_once, work(arrays, kOffsets, counts));
  if (sorted && tasks && !at_once) emit_tasks(out.program, arrays, m);
  if (m == 0) return;
  if (!gather) {
    launch("place", 1,
           out.with_points(arrays, m, {offsets, place, work(arrays, kRecords), work(arrays, kIndex), status}),
           coordinates + 2 * m * count + records);
    return;
  }
  launch("index", 2, {offsets, place, of_point, work(arrays, kIndex), m}, 3 * m * count);
  if (staged)
    launch("fetch_records", 4, {work(arrays, kScratch), work(arrays, kIndex), work(arrays, kRecords), m},
           m * count + 2 * records);
  else
    launch("fetch", 3, out.with_points(arrays, m, {work(arrays, kIndex), work(arrays, kRecords), status}),
           coordinates + m * count + records);
}

std::array<std::int64_t, kWorkspaces> StageKernels::index_workspace_bytes(std::int64_t m, bool tasks) const {
  const std::int64_t count = shape_.large_counts ? 8 : 4, task = shape_.large_counts ? 24 : 16;
  const bool sorted = parameters_.order != RecordOrder::caller;
  const std::int64_t bins = sorted ? bins_.count() : 0;
  const std::int64_t list = tasks && sorted ? padded(bins_.most_tasks(m) * task) + count : 0;
  return {folds_at(m) + padded(3 * 4 * real_bytes()),
          padded(sorted ? m * count : 0),
          padded(std::max(list, sorted ? m * count : 0)),  // first each point's place in its bin
          padded((bins + 2) * count) + padded(sorted ? bins_.state_bytes(m, true, false) : 0),
          padded(bins_.state_bytes(m, false, true)),
          32,
          padded(0),
          padded(0)};
}

void StageKernels::emit_index_sort(SortLaunches& out, const Arrays& arrays, std::int64_t m) const {
  const std::int64_t count = shape_.large_counts ? 8 : 4, coordinates = m * shape_.dim * real_bytes();
  const bool sorted = parameters_.order != RecordOrder::caller;
  const std::int64_t bins = sorted ? bins_.count() : 0;
  const BufferRef kept = work(arrays, kRecords), folds = work(arrays, kRecords, folds_at(m));
  const BufferRef offsets = work(arrays, kOffsets), place = work(arrays, kTasks), status = work(arrays, kStatus);
  const auto launch = [&](const char* name, int pass, std::vector<LaunchArgument> arguments, std::int64_t bytes) {
    const std::string constants = published_constants() + fmt::format("#define NUFFT_PASS {}\n#define NUFFT_CHECK {}\n",
                                                                      pass, parameters_.check ? 1 : 0);
    const std::string text = std::string(pass == 0 ? nufft_locate_text : "") + nufft_published_text;
    out(name, text + nufft_published_sort_text, constants, blocks(m, 256), 256, 0, std::move(arguments), bytes);
  };
  const std::int64_t counts = padded((bins + 2) * count);
  out.clear(offsets, sorted ? (counts + bins_.state_bytes(m, true, false)) / 8 : 1, status);
  if (m == 0) return;
  launch("published_points", 0, out.with_points(arrays, m, {kept, folds, offsets, place, status}),
         2 * coordinates + (sorted ? m * count : 0));
  if (!sorted) return;
  emit_offsets(out, arrays, m, true, false, work(arrays, kOffsets, counts));
  launch("published_index", 1, {kept, folds, offsets, place, work(arrays, kIndex), m}, coordinates + 2 * m * count);
}

// Constants and arrays for the kernels of both levels.
struct StageKernels::LevelLaunches {
  const SortLaunches& out;
  const StageKernels& kernels;
  SortLevels l;
  BufferRef counts, starts, cursors, chunks, befores, offsets, records, index, spare, status;

  LevelLaunches(const SortLaunches& launches, const StageKernels& of, const Arrays& arrays, std::int64_t m)
      : out(launches), kernels(of), l(of.bins_.levels(m)) {
    const std::int64_t count = of.shape_.large_counts ? 8 : 4;
    const std::int64_t sums = padded(of.bins_.state_bytes(m, false, true));  // before: the state of emit_offsets
    const auto part = [&](std::int64_t numbers) { return work(arrays, kSums, sums + numbers * count); };
    offsets = work(arrays, kOffsets), records = work(arrays, kRecords), index = work(arrays, kIndex);
    counts = part(0), starts = l.final ? offsets : part(l.most_coarse), cursors = part(2 * l.most_coarse + 1);
    chunks = part(3 * l.most_coarse + 1), befores = part(4 * l.most_coarse + 2);
    spare = work(arrays, kScratch), status = work(arrays, kStatus);
  }
  void operator()(const char* name, int pass, std::uint32_t grid, int threads, std::int64_t points, std::int64_t shared,
                  std::vector<LaunchArgument> arguments, std::int64_t bytes) const {
    const std::string constants = fmt::format(
        "#define NUFFT_PASS {}\n#define NUFFT_CHECK {}\n#define NUFFT_THREADS {}\n#define NUFFT_PLACE_POINTS {}\n"
        "#define NUFFT_SEGMENT {}u\n#define NUFFT_STAGED_ALIGN {}\n#define NUFFT_HELD {}\n#define NUFFT_FINAL {}\n",
        pass, pass == 0 && kernels.parameters_.check ? 1 : 0, threads, points, l.segment, l.align,
        std::max<std::int64_t>(2, kHeldBytes / l.staged), l.final ? 1 : 0);
    out(name, std::string(nufft_locate_text) + nufft_block_sums_text + nufft_sort_text, constants, grid, threads,
        shared, std::move(arguments), bytes);
  }
};

void StageKernels::emit_two_levels(SortLaunches& out, const Arrays& arrays, std::int64_t m,
                                   std::int64_t scratch) const {
  const std::int64_t count = shape_.large_counts ? 8 : 4;
  const LevelLaunches launch(out, *this, arrays, m);
  const SortLevels& l = launch.l;
  const std::int64_t coordinates = m * shape_.dim * real_bytes();
  const ArgumentStruct coarse{{l.coarse, l.per, l.magic(), l.reach()}};

  // Counts, and in front of them the state of emit_offsets. Clearing one word too many is harmless: it is written
  // later.
  const BufferRef state = work(arrays, kSums);
  const std::int64_t words = (launch.counts.byte_offset - state.byte_offset + l.coarse * count + 7) / 8;
  out.clear(state, words, launch.status);
  launch("coarse_count", 0, std::min(blocks(m, kCountPoints), static_cast<std::uint32_t>(4 * shape_.multiprocessors)),
         kCountThreads, kCountPoints, l.most_coarse * 4,
         out.with_points(arrays, m, {coarse, launch.counts, launch.status}), coordinates);
  launch("coarse_scan", 1, 1, kPlaceThreads, kPlaceThreads, 32 * count,
         {launch.counts, launch.starts, launch.cursors, launch.chunks, launch.befores, launch.status, l.coarse},
         5 * l.coarse * count);
  const std::int64_t shares = whole_waves(ceil_div(m, l.place_points), m, shape_.multiprocessors);
  const std::int64_t chunk = std::min(l.place_points, ceil_div(ceil_div(m, shares), 32) * 32);
  launch("coarse_place", 2, blocks(m, chunk), kPlaceThreads, l.place_points, l.place_bytes,
         out.with_points(arrays, m, {coarse, chunk, launch.cursors, launch.records, launch.index, launch.status}),
         coordinates + m * l.staged);
  if (!l.final) emit_second_level(out, arrays, m, scratch, 0, 0);
}

// step > 0: only the large coarse bins that have at least `from` and fewer than from + step points of other large
// coarse bins before them.
void StageKernels::emit_second_level(SortLaunches& out, const Arrays& arrays, std::int64_t m, std::int64_t scratch,
                                     std::int64_t from, std::int64_t step) const {
  const std::int64_t count = shape_.large_counts ? 8 : 4;
  const LevelLaunches launch(out, *this, arrays, m);
  const SortLevels& l = launch.l;
  const std::int64_t capacity = scratch / l.staged;
  const ArgumentStruct level{{l.coarse, l.per, l.all, capacity, from, step}};
  const std::vector<LaunchArgument> arguments{launch.records, launch.index,   launch.spare,   launch.starts,
                                              launch.chunks,  launch.befores, launch.offsets, level};
  if (from == 0)
    launch("fine", 3, blocks(l.coarse, 1), kFineThreads, l.segment, l.fine_bytes, arguments,
           step > 0 ? 0 : 2 * m * l.staged + l.all * count);
  if (scratch == 0) return;  // no room for the points of large coarse bins
  // Does nothing unless some coarse bin is large.
  const std::uint32_t few = std::min(blocks(m, l.segment), 264u);
  launch("large_count", 5, few, kFineThreads, l.segment, l.counter_bytes, arguments, 0);
  launch("large_scan", 4, few, 256, 256, 8 * count,
         {launch.starts, launch.chunks, launch.befores, launch.offsets, level}, 0);
  launch("large_place", 6, few, kFineThreads, l.segment, l.large_bytes, arguments, 0);
}

}  // namespace fourtune::generator::nufft
