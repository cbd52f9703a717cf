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
#include "nufft_tasks_text.h"

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
struct Kernels::SortLaunches {
  const Kernels& kernels;
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
  void scan_text(const char* name, int pass, std::uint32_t grid, std::vector<LaunchArgument> arguments,
                 std::int64_t bytes) const {
    const int at = add(program, kernels.scan_kernel(name, pass));
    program.launches.push_back({at, {grid, 1, 1}, std::move(arguments), "sort", bytes, 0});
  }
  // Clears so many words of counts, and sets the status.
  void clear(BufferRef at, std::int64_t words, BufferRef status) const {
    scan_text("clear", 0, std::min(blocks(words, 256 * 8), 4096u), {at, words, status, std::int64_t{3}}, 8 * words);
  }
  void scan(BufferRef values, BufferRef sums, std::int64_t n, std::int64_t count) const {
    const std::uint32_t tiles = blocks(n, 2048);
    const auto step = [&](std::int64_t number, std::uint32_t grid, std::int64_t of, std::int64_t bytes) {
      scan_text("scan", 1, grid, {values, sums, of, number}, bytes);
    };
    step(0, tiles, n, n * count);
    step(1, 1, tiles, tiles * count * 2);
    step(2, tiles, n, n * count * 2);
  }
};

std::array<std::int64_t, kWorkspaces> Kernels::workspace_bytes(std::int64_t m, bool tasks) const {
  const std::int64_t count = shape_.large_counts ? 8 : 4, task = shape_.large_counts ? 24 : 16;
  const std::int64_t all = bins_.slices(m), longest = bins_.count() * all + 1, records = bins_.layout().bytes(m);
  const bool sorted = parameters_.order != Order::caller;
  if (parameters_.placement == Placement::index) return index_workspace_bytes(m, tasks);
  const bool two_level = sorted && parameters_.placement == Placement::two_level;
  const SortLevels levels = two_level ? bins_.levels(m) : SortLevels{};
  // One level: the place of each point in its bin is kept where the tasks are stored later, and its bin where the
  // records are stored later. If the tasks are made first, the places are in scratch instead, so scratch must also
  // suffice for a set of fewer points.
  const std::int64_t list =
      tasks || bins_.in_one_block(m) ? padded(bins_.most_tasks(m) * task) + (bins_.groups() * all + 1) * count : 0;
  const std::int64_t places = two_level || bins_.in_one_block(m) ? 0 : m * count;
  std::int64_t scratch = 0;
  if (sorted && parameters_.placement == Placement::staged)
    scratch = records;
  else if (sorted && !two_level)
    scratch = std::min(m, kOneBlockPoints) * count;
  return {padded(two_level ? records : std::max(records, m * count)),
          padded(m * count),
          padded(std::max(list, places)),
          padded((bins_.count() * all + 2) * count),
          padded(((longest + 2047) / 2048 + 1) * count) + padded((5 * levels.most_coarse + 3) * count),
          32,
          padded(scratch),
          parameters_.deterministic                         ? 16 + shape_.fine[0] * shape_.fine[1] * shape_.fine[2] * 16
          : parameters_.group > 1 && parameters_.interleave ? padded(m * parameters_.group * 2 * real_bytes())
                                                            : 16};
}

BufferRef Kernels::task_parts(const Arrays& arrays, std::int64_t m) const {
  return work(arrays, kTasks, padded(bins_.most_tasks(m) * (shape_.large_counts ? 24 : 16)));
}
BufferRef Kernels::task_total(const Arrays& arrays, std::int64_t m) const {
  BufferRef at = task_parts(arrays, m);
  at.byte_offset += bins_.groups() * bins_.slices(m) * (shape_.large_counts ? 8 : 4);
  return at;
}

std::int64_t Kernels::large_bytes(std::int64_t m, std::int64_t points) const {
  const bool sorted = parameters_.order != Order::caller;
  if (!sorted || points == 0 || parameters_.placement != Placement::two_level) return 0;
  const SortLevels l = bins_.levels(m);
  return l.final ? 0 : padded(points * l.staged);
}

std::int64_t Kernels::least_late_bytes(std::int64_t m, const LargeBins& large) const {
  return large_bytes(m, std::min(large.points, large.largest + ceil_div(large.points, kMostBatches)));
}

std::int64_t Kernels::late_bytes(std::int64_t m, const LargeBins& large) const {
  return std::min(large_bytes(m, large.points), std::max(least_late_bytes(m, large), kFullBatch));
}

void Kernels::emit_sort(GpuProgram& program, const Arrays& arrays, std::int64_t m, const std::array<Map, 3>& map,
                        std::int64_t scratch, bool tasks, std::int64_t start) const {
  require(broken_sort_rule(shape_, parameters_, m));
  SortLaunches out{*this, program, maps_argument(map)};
  if (shape_.period > 0) out.maps.members.emplace_back(start);
  const bool sorted = parameters_.order != Order::caller;
  if (parameters_.placement == Placement::index) {
    emit_index_sort(out, arrays, m);
  } else if (sorted && m > 0 && parameters_.placement == Placement::two_level) {
    emit_two_levels(out, arrays, m, scratch);
  } else {
    emit_one_level(out, arrays, m);
  }
  if (sorted && tasks && !bins_.in_one_block(m)) emit_tasks(out, arrays, m);
}

void Kernels::emit_large(GpuProgram& program, const Arrays& arrays, std::int64_t m, const LargeBins& large,
                         std::int64_t scratch, bool tasks) const {
  SortLaunches out{*this, program, {}};
  const std::int64_t capacity = scratch / bins_.levels(m).staged;
  const std::int64_t step = capacity >= large.points ? large.points : capacity - large.largest;
  if (step < 1) throw Error(Status::internal, "no room for the largest coarse bin");
  for (std::int64_t from = 0; from < large.points; from += step) emit_second_level(out, arrays, m, scratch, from, step);
  if (tasks) emit_tasks(out, arrays, m);
}

void Kernels::emit_tasks(GpuProgram& program, const Arrays& arrays, std::int64_t m) const {
  SortLaunches out{*this, program, {}};
  if (parameters_.order != Order::caller && !bins_.in_one_block(m)) emit_tasks(out, arrays, m);
}

void Kernels::emit_one_level(SortLaunches& out, const Arrays& arrays, std::int64_t m) const {
  const std::int64_t count = shape_.large_counts ? 8 : 4;
  const bool sorted = parameters_.order != Order::caller;
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
  // The points' bins are kept where the records are stored later.
  const bool at_once = bins_.in_one_block(m);
  const BufferRef place = work(arrays, at_once ? kScratch : kTasks), of_point = work(arrays, kRecords);
  const std::int64_t coordinates = m * shape_.dim * real_bytes(), records = bins_.layout().bytes(m);
  // With 32-bit counts, one word more than needed may be cleared; there is room for it.
  const std::int64_t all = bins_.count() * bins_.slices(m);
  const std::int64_t words = ((all + 1) * count + 7) / 8;
  out.clear(offsets, words, status);
  if (m > 0 && (sorted || parameters_.check))
    launch("count", 0, out.with_points(arrays, m, {offsets, place, of_point, work(arrays, kScratch), status}),
           coordinates + (gather ? 2 : 1) * m * count + (staged ? records : 0));
  if (at_once)
    task_kernel(out, "offsets", 3, 1, 1024,
                {offsets, task_parts(arrays, m), work(arrays, kTasks), bins_.count(), bins_.groups()},
                (bins_.count() + bins_.groups()) * count * 3);
  else if (sorted)
    out.scan(offsets, work(arrays, kSums), all + 1, count);
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

std::array<std::int64_t, kWorkspaces> Kernels::index_workspace_bytes(std::int64_t m, bool tasks) const {
  const std::int64_t count = shape_.large_counts ? 8 : 4, task = shape_.large_counts ? 24 : 16;
  const bool sorted = parameters_.order != Order::caller;
  const std::int64_t bins = sorted ? bins_.count() : 0;
  const std::int64_t list = tasks && sorted ? padded(bins_.most_tasks(m) * task) + (bins + 1) * count : 0;
  return {folds_at(m) + padded(3 * 4 * real_bytes()),
          padded(sorted ? m * count : 0),
          padded(std::max(list, sorted ? m * count : 0)),  // first each point's place in its bin
          padded((bins + 2) * count),
          padded((bins / 2048 + 2) * count),
          32,
          padded(0),
          padded(0)};
}

void Kernels::emit_index_sort(SortLaunches& out, const Arrays& arrays, std::int64_t m) const {
  const std::int64_t count = shape_.large_counts ? 8 : 4, coordinates = m * shape_.dim * real_bytes();
  const bool sorted = parameters_.order != Order::caller;
  const std::int64_t bins = sorted ? bins_.count() : 0;
  const BufferRef kept = work(arrays, kRecords), folds = work(arrays, kRecords, folds_at(m));
  const BufferRef offsets = work(arrays, kOffsets), place = work(arrays, kTasks), status = work(arrays, kStatus);
  const auto launch = [&](const char* name, int pass, std::vector<LaunchArgument> arguments, std::int64_t bytes) {
    const std::string constants = published_constants() + fmt::format("#define NUFFT_PASS {}\n#define NUFFT_CHECK {}\n",
                                                                      pass, parameters_.check ? 1 : 0);
    const std::string text = std::string(pass == 0 ? nufft_locate_text : "") + nufft_published_text;
    out(name, text + nufft_published_sort_text, constants, blocks(m, 256), 256, 0, std::move(arguments), bytes);
  };
  out.clear(offsets, ((bins + 1) * count + 7) / 8, status);
  if (m == 0) return;
  launch("published_points", 0, out.with_points(arrays, m, {kept, folds, offsets, place, status}),
         2 * coordinates + (sorted ? m * count : 0));
  if (!sorted) return;
  out.scan(offsets, work(arrays, kSums), bins + 1, count);
  launch("published_index", 1, {kept, folds, offsets, place, work(arrays, kIndex), m}, coordinates + 2 * m * count);
}

// Constants and arrays for the kernels of both levels.
struct Kernels::LevelLaunches {
  const SortLaunches& out;
  const Kernels& kernels;
  SortLevels l;
  BufferRef counts, starts, cursors, chunks, befores, offsets, records, index, spare, status;

  LevelLaunches(const SortLaunches& launches, const Kernels& of, const Arrays& arrays, std::int64_t m)
      : out(launches), kernels(of), l(of.bins_.levels(m)) {
    const std::int64_t count = of.shape_.large_counts ? 8 : 4;
    const std::int64_t sums = padded(((l.all + 1 + 2047) / 2048 + 1) * count);
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

void Kernels::emit_two_levels(SortLaunches& out, const Arrays& arrays, std::int64_t m, std::int64_t scratch) const {
  const std::int64_t count = shape_.large_counts ? 8 : 4;
  const LevelLaunches launch(out, *this, arrays, m);
  const SortLevels& l = launch.l;
  const std::int64_t coordinates = m * shape_.dim * real_bytes();
  const ArgumentStruct coarse{{l.coarse, l.per, l.magic(), l.reach()}};

  // Clearing one word too many is harmless: it is written later.
  const std::int64_t words = (l.coarse * count + 7) / 8;
  out.clear(launch.counts, words, launch.status);
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
void Kernels::emit_second_level(SortLaunches& out, const Arrays& arrays, std::int64_t m, std::int64_t scratch,
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
  launch("large_scan", 4, few, 256, 256, 8 * count, {launch.starts, launch.befores, launch.offsets, level}, 0);
  launch("large_place", 6, few, kFineThreads, l.segment, l.large_bytes, arguments, 0);
}

void Kernels::task_kernel(SortLaunches& out, const char* name, int pass, std::uint32_t grid, int threads,
                          std::vector<LaunchArgument> arguments, std::int64_t bytes) const {
  out(name, std::string(nufft_block_sums_text) + nufft_tasks_text,
      fmt::format("#define NUFFT_PASS {}\n#define NUFFT_THREADS {}\n", pass, threads), grid, threads,
      32 * (shape_.large_counts ? 8 : 4), std::move(arguments), bytes);
}

void Kernels::emit_tasks(SortLaunches& out, const Arrays& arrays, std::int64_t m) const {
  const std::int64_t count = shape_.large_counts ? 8 : 4;
  const std::int64_t all = bins_.groups() * bins_.slices(m);
  const BufferRef offsets = work(arrays, kOffsets), parts = task_parts(arrays, m);
  if (bins_.groups_in_one_block()) {  // the same kernels for any number of points
    task_kernel(out, "groups", 2, 1, 1024, {offsets, parts, all}, all * count * 3);
  } else {
    task_kernel(out, "count_tasks", 0, blocks(all + 1, 256), 256, {offsets, parts, all}, all * count * 2);
    out.scan(parts, work(arrays, kSums), all + 1, count);
  }
  task_kernel(out, "list_tasks", 1, blocks(bins_.most_tasks(m), 256), 256, {offsets, parts, work(arrays, kTasks), all},
              all * count * 2);
}

}  // namespace fourtune::generator::nufft
