// Kernels that move points to the ranks of their slabs: each by itself on the emulator, against what it should list.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "generator/codegen/nufft/slabs.h"
#include "tests/generator/nufft_support.h"

namespace fourtune::generator::nufft::testing {
namespace {

using Where = BufferRef::Where;
using runtime::emulated::run_all_ways;
constexpr BufferRef kFirst{Where::first, 0, 0};
BufferRef second(std::size_t offset) { return {Where::second, 0, static_cast<std::int64_t>(offset)}; }
BufferRef constant(int index) { return {Where::constant, index, 0}; }

template <class T>
std::vector<T> taken(std::span<const std::byte> bytes, std::size_t offset, std::size_t count) {
  std::vector<T> values(count);
  std::memcpy(values.data(), bytes.data() + offset, count * sizeof(T));
  return values;
}

// ---- cells
// 300 points, so that there are several rounds of a block; bad: index of one that is not finite, or -1.
void expect_cells(int dim, Precision precision, std::int64_t along, int bad) {
  SCOPED_TRACE(fmt::format("{}D, {} cells, {}", dim, along, precision == Precision::f32 ? "f32" : "f64"));
  Case c = spreading("Slab", dim, precision, 5, Spread::points);
  c.shape.fine[static_cast<std::size_t>(dim - 1)] = along;
  c.parameters.check = true;
  c.count = 3000;
  const auto last = static_cast<std::size_t>(dim - 1);
  auto points = make_points(c);
  if (bad >= 0) points[0][static_cast<std::size_t>(bad)] = std::numeric_limits<double>::infinity();
  if (bad >= 0) points[last][static_cast<std::size_t>(bad) + 100] = std::numeric_limits<double>::quiet_NaN();
  GpuProgram program;
  Arrays arrays;
  for (int d = 0; d < 3; ++d) {
    arrays.points[static_cast<std::size_t>(d)] = constant(d < dim ? d : 0);
    program.constants.push_back(packed_reals(points[static_cast<std::size_t>(d)], precision));
  }
  const std::size_t m = points[0].size(), cells = static_cast<std::size_t>(along);
  const std::size_t counts_at = 4 * m, status_at = counts_at + 8 * cells;
  const StageKernels kernels(c.shape, c.parameters, fit(window_of(5), 1e-8));
  kernels.emit_cells(program, arrays, c.count, second(0), second(counts_at), second(status_at));
  std::vector<int> right_cells;
  std::vector<std::uint64_t> right_counts(cells);
  for (std::size_t i = 0; i < m; ++i) {
    const bool finite = std::isfinite(points[0][i]) && std::isfinite(points[last][i]);
    right_cells.push_back(finite ? reached(points[last][i], static_cast<int>(along), window_of(5)).cell[0] : -1);
    if (finite) ++right_counts[static_cast<std::size_t>(right_cells.back())];
  }
  const std::vector<std::byte> none(8), room(status_at + 24, std::byte{0xff});
  const auto check = [&](std::span<const std::byte>, std::span<const std::byte> got) -> std::string {
    const auto found = taken<int>(got, 0, m);
    for (std::size_t i = 0; i < m; ++i)
      if (right_cells[i] >= 0 && found[i] != right_cells[i])
        return fmt::format("cell {} of point {}, should be {}", found[i], i, right_cells[i]);
    auto counts = taken<std::uint64_t>(got, counts_at, cells);
    for (std::size_t i = 0; i < m; ++i)  // those that are not finite are counted somewhere in the grid
      if (right_cells[i] < 0 && found[i] >= 0 && found[i] < along) --counts[static_cast<std::size_t>(found[i])];
    if (counts != right_counts) return "wrong counts";
    const auto first_bad = taken<std::uint64_t>(got, status_at, 1)[0];
    const std::uint64_t right_bad = bad < 0 ? ~std::uint64_t{0} : static_cast<std::uint64_t>(bad);
    return first_bad == right_bad ? "" : fmt::format("bad point {}, should be {}", first_bad, right_bad);
  };
  run_all_ways(program, none, room, check);
}

TEST(NufftSlabs, EveryPointHasItsCellAndEveryCellItsCount) {
  for (const int dim : {1, 2, 3})
    for (const Precision precision : {Precision::f32, Precision::f64})
      expect_cells(dim, precision, 39, dim == 2 ? 7 : -1);
  expect_cells(1, Precision::f64, 20'000, -1);  // too many for counters in shared memory
  expect_cells(1, Precision::f32, 20'000, 2999 - 100);
}

// ---- lists
// 3000 points of 40 cells and 7 ranks, each of which has places for the points that it owns, and for copies.
TEST(NufftSlabs, PointsAreListedWhereTheirSlabAndItsNeighbourAre) {
  constexpr std::size_t kPoints = 3000, kCells = 40, kDestinations = 14;
  std::mt19937 random(3);
  std::vector<int> cells(kPoints), owners(kCells), neighbours(kCells);
  for (int& cell : cells) cell = static_cast<int>(random() % kCells);
  for (std::size_t cell = 0; cell < kCells; ++cell) {
    owners[cell] = static_cast<int>(2 * (cell / 6));
    neighbours[cell] = cell % 6 < 2 ? static_cast<int>((2 * (cell / 6) + 13) % 14) : -1;
  }
  std::vector<std::vector<unsigned>> right(kDestinations);
  for (std::size_t i = 0; i < kPoints; ++i) {
    const auto cell = static_cast<std::size_t>(cells[i]);
    right[static_cast<std::size_t>(owners[cell])].push_back(static_cast<unsigned>(i));
    if (neighbours[cell] >= 0) right[static_cast<std::size_t>(neighbours[cell])].push_back(static_cast<unsigned>(i));
  }
  std::vector<std::uint64_t> begins{0};
  for (const auto& of_one : right) begins.push_back(begins.back() + of_one.size());
  std::vector<std::uint64_t> next(begins.begin(), begins.end() - 1);
  std::vector<std::byte> room = packed(next);
  const std::size_t list_at = room.size();
  room.resize(list_at + 4 * begins.back(), std::byte{0xff});
  GpuProgram program;
  program.constants = {packed(owners), packed(neighbours)};
  emit_list(program, kFirst, constant(0), constant(1), second(0), second(list_at), kPoints, kDestinations);
  const auto check = [&](std::span<const std::byte>, std::span<const std::byte> got) -> std::string {
    const auto ends = taken<std::uint64_t>(got, 0, kDestinations);
    for (std::size_t d = 0; d < kDestinations; ++d) {
      if (ends[d] != begins[d + 1]) return fmt::format("destination {} ends at {}", d, ends[d]);
      auto listed = taken<unsigned>(got, list_at + 4 * begins[d], right[d].size());
      std::sort(listed.begin(), listed.end());
      if (listed != right[d]) return fmt::format("destination {} has other points", d);
    }
    return {};
  };
  run_all_ways(program, packed(cells), room, check, true);
}

// ---- values
template <class T>
void expect_packing(Precision precision, bool complex) {
  SCOPED_TRACE(fmt::format("{} bytes", sizeof(T)));
  constexpr std::size_t kItems = 2500;
  std::vector<unsigned> list(kItems);
  for (std::size_t i = 0; i < kItems; ++i) list[i] = static_cast<unsigned>(i * 7 % kItems);
  std::vector<T> values(kItems), packs(kItems), unpacks(kItems);
  for (std::size_t i = 0; i < kItems; ++i) values[i] = T(static_cast<float>(i) + 0.5f);
  for (std::size_t i = 0; i < kItems; ++i) packs[i] = values[list[i]], unpacks[list[i]] = values[i];
  for (const bool is_pack : {true, false}) {
    GpuProgram program;
    program.constants = {packed(list)};
    emit_packing(program, kFirst, constant(0), second(0), kItems, precision, complex, is_pack);
    const std::vector<std::byte> right = packed(is_pack ? packs : unpacks);
    run_all_ways(program, packed(values), std::vector<std::byte>(right.size(), std::byte{0xff}),
                 [&](std::span<const std::byte>, std::span<const std::byte> got) {
                   return std::equal(got.begin(), got.end(), right.begin(), right.end()) ? std::string()
                                                                                         : std::string("other values");
                 });
  }
  // Three pieces, one of them longer than the others together and one of a single item, each into a separate array.
  const std::vector<std::size_t> begins{0, 400, 401, kItems}, places{kItems - 400, kItems - 401, 0};
  std::vector<T> right(kItems);
  std::vector<ListedPiece> pieces;
  for (std::size_t p = 0; p < 3; ++p) {
    const std::size_t count = begins[p + 1] - begins[p];
    std::copy_n(packs.begin() + static_cast<std::ptrdiff_t>(begins[p]), count,
                right.begin() + static_cast<std::ptrdiff_t>(places[p]));
    pieces.push_back(
        {second(places[p] * sizeof(T)), static_cast<std::int64_t>(begins[p]), static_cast<std::int64_t>(count)});
  }
  const auto expect = [&](const GpuProgram& program, const std::vector<std::byte>& bytes) {
    run_all_ways(program, packed(values), std::vector<std::byte>(bytes.size(), std::byte{0xff}),
                 [&](std::span<const std::byte>, std::span<const std::byte> got) {
                   return std::equal(got.begin(), got.end(), bytes.begin(), bytes.end()) ? std::string()
                                                                                         : std::string("other values");
                 });
  };
  GpuProgram program;
  program.constants = {packed(list)};
  emit_sending(program, kFirst, constant(0), pieces, precision, complex);
  expect(program, packed(right));
  // One more that becomes 0.
  constexpr std::size_t kCleared = 16 * 700;
  std::vector<std::byte> bytes = packed(right);
  pieces.push_back(cleared_piece(second(bytes.size()), kCleared));
  bytes.resize(bytes.size() + kCleared);
  GpuProgram clearing;
  clearing.constants = {packed(list)};
  emit_sending(clearing, kFirst, constant(0), pieces, precision, complex);
  expect(clearing, bytes);
  // Back, from pieces that lie in the order of the list.
  for (ListedPiece& piece : pieces) piece.at = {BufferRef::Where::first, 0, piece.begin * static_cast<int>(sizeof(T))};
  pieces.pop_back();
  GpuProgram fetching;
  fetching.constants = {packed(list)};
  emit_fetching(fetching, pieces, constant(0), second(0), precision, complex);
  expect(fetching, packed(unpacks));
}

TEST(NufftSlabs, ALaunchSendsToAsManyRanksAsItsParametersHold) {
  const std::vector<ListedPiece> pieces(130, {kFirst, 0, 10});
  GpuProgram program;
  emit_sending(program, kFirst, kFirst, pieces, Precision::f32, true);
  std::size_t sent = 0;
  for (const Launch& launch : program.launches) {
    const auto& all = std::get<ArgumentStruct>(launch.arguments.back()).members;
    EXPECT_LE(8 * all.size(), 4000u);
    sent += all.size() / 3;
    EXPECT_EQ(launch.grid[0] % (all.size() / 3), 0u);
  }
  EXPECT_EQ(sent, pieces.size());
}

TEST(NufftSlabs, ValuesArePackedInTheOrderOfTheListAndPutBack) {
  expect_packing<float>(Precision::f32, false);
  expect_packing<double>(Precision::f64, false);
  expect_packing<std::complex<float>>(Precision::f32, true);
  expect_packing<std::complex<double>>(Precision::f64, true);
}

}  // namespace
}  // namespace fourtune::generator::nufft::testing
