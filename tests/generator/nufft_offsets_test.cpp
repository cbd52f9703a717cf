// The launch that makes offsets of the bins' counts and lists the subproblems (templates/nufft_tasks.cuh).
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "tests/generator/nufft_support.h"

namespace fourtune::generator::nufft::testing {
namespace {

struct Task {
  std::uint32_t start, stop, group, unused;
  friend bool operator==(const Task&, const Task&) = default;
};

struct Division {
  std::int64_t bins, per_group, tile, cap, slice_groups;
  bool sums, list;
};

// Lies in the program's second array: offsets, tasks, their number, and the state.
struct Memory {
  std::vector<std::uint32_t> offsets;
  std::vector<Task> tasks;
  std::uint32_t total = 77;
  std::vector<std::uint64_t> state;

  std::size_t tasks_at() const { return (offsets.size() * 4 + 15) / 16 * 16; }
  std::size_t total_at() const { return tasks_at() + tasks.size() * sizeof(Task); }
  std::size_t state_at() const { return total_at() + 16; }
  std::vector<std::byte> bytes() const {
    std::vector<std::byte> out(state_at() + state.size() * 8);
    std::memcpy(out.data(), offsets.data(), offsets.size() * 4);
    std::memcpy(out.data() + tasks_at(), tasks.data(), tasks.size() * sizeof(Task));
    std::memcpy(out.data() + total_at(), &total, 4);
    std::memcpy(out.data() + state_at(), state.data(), state.size() * 8);
    return out;
  }
  void take(const std::vector<std::byte>& from) {
    std::memcpy(offsets.data(), from.data(), offsets.size() * 4);
    std::memcpy(tasks.data(), from.data() + tasks_at(), tasks.size() * sizeof(Task));
    std::memcpy(&total, from.data() + total_at(), 4);
    std::memcpy(state.data(), from.data() + state_at(), state.size() * 8);
  }
};

GpuProgram program_of(const Memory& memory, const Division& of, std::uint32_t blocks) {
  Shape shape;
  shape.dim = 2, shape.fine = {64, 64, 1}, shape.width = 4;
  Parameters with;
  with.order = RecordOrder::bins, with.bin = {4, 4, 1};
  GpuProgram any, program;
  StageKernels(shape, with, fit(window_of(4), 1e-8)).emit_tasks(any, {}, 1000);
  program.kernels = {any.kernels.back()};
  const auto at = [](std::size_t offset) {
    return BufferRef{BufferRef::Where::second, 0, static_cast<std::int64_t>(offset)};
  };
  const ArgumentStruct division{
      {of.bins, of.per_group, of.tile, of.cap, of.slice_groups, std::int64_t{of.sums}, std::int64_t{of.list}}};
  program.launches.push_back({0,
                              {blocks, 1, 1},
                              {at(0), at(memory.tasks_at()), at(memory.total_at()), at(memory.state_at()), division},
                              "sort",
                              0,
                              0});
  return program;
}

// What one thread would do.
void by_hand(const std::vector<std::uint32_t>& counts, const Division& of, Memory& right) {
  right.offsets.assign(counts.size() + 1, 0);
  for (std::size_t i = 0; i < counts.size(); ++i) right.offsets[i + 1] = right.offsets[i] + counts[i];
  right.tasks.clear();
  for (std::int64_t g = 0; g < of.bins / of.per_group; ++g) {
    const std::uint32_t start = right.offsets[static_cast<std::size_t>(g * of.per_group)],
                        points = right.offsets[static_cast<std::size_t>((g + 1) * of.per_group)] - start;
    const auto parts = static_cast<std::uint32_t>((points + of.cap - 1) / of.cap);
    std::uint32_t at = start;
    for (std::uint32_t k = 0; k < parts; ++k) {
      const std::uint32_t here = points / parts + (k < points % parts ? 1 : 0);
      right.tasks.push_back({at, at + here, static_cast<std::uint32_t>(g % of.slice_groups), 0});
      at += here;
    }
  }
  right.total = static_cast<std::uint32_t>(right.tasks.size());
}

std::vector<std::uint32_t> some_counts(std::int64_t bins) {
  std::mt19937 random(3);
  std::vector<std::uint32_t> counts;
  for (std::int64_t i = 0; i < bins; ++i) counts.push_back(random() % 3 == 0 ? random() % 5 : 0);
  counts[counts.size() / 2] = 1000;  // one crowded bin
  return counts;
}

TEST(NufftOffsets, AreSumsAndSubproblemsAreEqualSharesOfTheirGroups) {
  for (const Division& of :
       {Division{20, 1, 2048, 7, 20, true, true}, Division{6001, 1, 2048, 3, 6001, true, true},
        Division{90 * 70, 90, 22 * 90, 16, 70, true, true}, Division{3 * 3000, 3000, 3000, 5, 3, true, true},
        Division{4 * 1500, 3, 2046, 5, 500, true, true},  // four slices
        Division{6001, 1, 2048, 3, 6001, true, false}, Division{2 * 2500, 2, 2048 * 2, 4, 2500, false, true}}) {
    const std::vector<std::uint32_t> counts = some_counts(of.bins);
    Memory right;
    by_hand(counts, of, right);
    Memory memory;
    memory.offsets = of.sums ? counts : right.offsets;
    memory.offsets.resize(counts.size() + 1);
    memory.tasks.resize(right.tasks.size());
    const auto tiles = static_cast<std::uint32_t>((of.bins + of.tile - 1) / of.tile);
    memory.state.resize(1 + 2 * tiles);
    const GpuProgram program = program_of(memory, of, tiles);
    const auto check = [&](std::span<const std::byte>, std::span<const std::byte> after) -> std::string {
      Memory got = memory;
      got.take({after.begin(), after.end()});
      if (got.offsets != right.offsets) return "other offsets";
      if (of.list && got.total != right.total) return "another number of subproblems";
      return !of.list || got.tasks == right.tasks ? "" : "other subproblems";
    };
    const std::vector<std::byte> none(16), second = memory.bytes();
    EXPECT_GT(runtime::emulated::run_all_ways(program, none, second, check, true), 0) << of.bins << " " << of.per_group;
  }
}

// Blocks of a device run at the same time, those of the emulator one after the other: then each finds all before it
// known. So what other blocks would have published is put there.
TEST(NufftOffsets, AddUpWhatTilesHavePublishedBackToOneThatKnowsAllBeforeIt) {
  constexpr std::uint64_t kOwn = std::uint64_t{1} << 62, kAll = std::uint64_t{2} << 62;
  const std::int64_t tile = 70, bins = (tile + 1) * 2048;
  for (const std::int64_t known : {std::int64_t{0}, std::int64_t{3}, std::int64_t{37}, std::int64_t{38}, tile - 1}) {
    const Division of{bins, 1, 2048, 2, bins, true, true};
    Memory memory;
    memory.offsets.resize(static_cast<std::size_t>(bins + 1));
    memory.offsets[static_cast<std::size_t>(tile * 2048 + 5)] = 3;
    memory.state.resize(static_cast<std::size_t>(3 + 2 * tile));
    memory.state[0] = static_cast<std::uint64_t>(tile);
    std::uint64_t points = 0, parts = 0;
    for (std::int64_t i = 0; i < tile; ++i) {
      const auto own = static_cast<std::uint64_t>(i * i + 1), tasks = static_cast<std::uint64_t>(2 * i + 1);
      points += own, parts += tasks;
      const auto at = static_cast<std::size_t>(1 + 2 * i);
      // Those before `known` would give another sum: nobody may look there. The last 20 have finished their own sums
      // only.
      memory.state[at] = i < known ? kOwn | 12345 : i == known ? kAll | points : kOwn | own;
      memory.state[at + 1] = i < known ? kOwn | 54321 : i == known ? kAll | parts : kOwn | tasks;
    }
    memory.tasks.resize(static_cast<std::size_t>(parts) + 2);
    GpuProgram program = program_of(memory, of, 1);
    std::vector<std::byte> none(16), second = memory.bytes();
    run_program(program, none, second, {}, true);
    Memory got = memory;
    got.take(second);
    const auto first = static_cast<std::size_t>(tile * 2048);
    const auto before = static_cast<std::uint32_t>(points);
    const auto listed = static_cast<std::size_t>(parts);
    EXPECT_EQ(got.offsets[first], before);
    EXPECT_EQ(got.offsets[first + 5], before);
    EXPECT_EQ(got.offsets[first + 6], before + 3);
    EXPECT_EQ(got.offsets[static_cast<std::size_t>(bins)], before + 3);
    EXPECT_EQ(got.total, listed + 2);
    EXPECT_TRUE((got.tasks[listed] == Task{before, before + 2, static_cast<std::uint32_t>(first) + 5, 0}));
    EXPECT_TRUE((got.tasks[listed + 1] == Task{before + 2, before + 3, static_cast<std::uint32_t>(first) + 5, 0}));
    EXPECT_EQ(got.state[0], static_cast<std::uint64_t>(tile + 1));
    EXPECT_EQ(got.state[static_cast<std::size_t>(1 + 2 * tile)], kAll | (points + 3));
    EXPECT_EQ(got.state[static_cast<std::size_t>(2 + 2 * tile)], kAll | (parts + 2));
  }
}

}  // namespace
}  // namespace fourtune::generator::nufft::testing
