#include "runtime/slabs/point_lists.h"

#include <algorithm>
#include <array>

#include "generator/codegen/nufft/slabs.h"
#include "runtime/backends/gpu/nufft_common.h"

namespace fourtune::runtime {

using gpu::Access;
using gpu::slot_ref;

PointLists::PointLists(const Problem& problem, std::unique_ptr<gpu::Queue> queue, void* stream, int lists, int pieces)
    : problem_(problem), runner_(std::move(queue), kPieces + pieces, false), stream_(stream), lists_(lists) {}

void PointLists::reserve(std::int64_t points, std::int64_t listed, std::int64_t cells, std::int64_t destinations) {
  runner_.reserve(kCells, 4 * points, "the points' cells", true);
  runner_.reserve(kCounts, 8 * cells, "the points of cells");
  runner_.reserve(kStatus, 32, "the status");
  runner_.reserve(kOwners, 4 * cells, "the slabs of cells", true);
  runner_.reserve(kNeighbours, 4 * cells, "the slabs of cells", true);
  runner_.reserve(kNext, 8 * (destinations + 1), "the slabs' places", true);
  listed_ = std::max(listed_, listed);
  runner_.reserve(kList, 4 * listed_ * lists_, "the lists of points", true);
}

std::vector<std::int64_t> PointLists::locate(const generator::nufft::StageKernels& kernels, const PointSet& points,
                                             std::int64_t cells, std::int64_t first,
                                             const std::array<generator::nufft::Map, 3>& maps) {
  runner_.reserve(kCells, 4 * points.m, "the points' cells", true);
  runner_.reserve(kCounts, 8 * cells, "the points of cells");
  runner_.reserve(kStatus, 32, "the status");
  generator::GpuProgram program;
  generator::nufft::Arrays arrays;
  arrays.points = {slot_ref(kX), slot_ref(kY), slot_ref(kZ)};
  kernels.emit_cells(program, arrays, points.m, slot_ref(kCells), slot_ref(kCounts), slot_ref(kStatus), maps);
  runner_.change(locating_, program);
  std::vector<std::int64_t> counts(static_cast<std::size_t>(cells));
  gpu::LaunchScope run(runner_.queue(), stream_);
  const std::array<const void*, 3> given{points.x, points.y, points.z};
  std::array<const std::byte*, 3> opened{};
  for (int d = 0; d < problem_.dim; ++d) {
    const auto at = static_cast<std::size_t>(d);
    std::byte* const there =
        runner_.queue().open(const_cast<void*>(given[at]), points.m * item_bytes(false), Access::in, "points");
    runner_.point(kX + d, there);
    opened[at] = there;
  }
  runner_.bind(locating_, true);
  runner_.launch(locating_, nullptr, nullptr);
  gpu::check_status(runner_.queue(), runner_.data(kStatus), opened, problem_, first);
  runner_.queue().read(counts.data(), runner_.data(kCounts), counts.size() * 8);
  run.complete();
  own_ = points.m;
  return counts;
}

void PointLists::list(const std::vector<std::int32_t>& owners, const std::vector<std::int32_t>& neighbours,
                      const std::vector<std::int64_t>& starts, int which) {
  const auto fill = [&](int slot, std::span<const std::byte> bytes) {
    runner_.reserve(slot, static_cast<std::int64_t>(bytes.size()), "the slabs of cells", true);
    runner_.upload(slot, bytes);
  };
  fill(kOwners, std::as_bytes(std::span(owners)));
  fill(kNeighbours, std::as_bytes(std::span(neighbours)));
  fill(kNext, std::as_bytes(std::span(starts)));
  listed_ = std::max(listed_, starts.back());
  runner_.reserve(kList, 4 * listed_ * lists_, "the list of points that move", true);
  generator::GpuProgram program;
  generator::nufft::emit_list(program, slot_ref(kCells), slot_ref(kOwners), slot_ref(kNeighbours), slot_ref(kNext),
                              slot_ref(kList, 4 * which * listed_), own_, static_cast<std::int64_t>(starts.size()) - 1);
  runner_.change(listing_, program);
  gpu::LaunchScope run(runner_.queue(), stream_);
  runner_.launch(listing_, nullptr, nullptr);
  run.complete();
}

gpu::BoundLaunches PointLists::copies(std::span<const Range> ranges, bool complex, bool packs, int which) {
  generator::GpuProgram program;
  for (const Range& range : ranges) {
    generator::BufferRef from = gpu::kFirst, to = gpu::kSecond;
    (packs ? to : from).byte_offset = (range.packed < 0 ? range.begin : range.packed) * item_bytes(complex);
    (packs ? from : to).byte_offset = range.unpacked * item_bytes(complex);
    generator::nufft::emit_packing(program, from, slot_ref(kList, 4 * (which * listed_ + range.begin)), to,
                                   range.end - range.begin, problem_.precision, complex, packs);
  }
  return runner_.make(program);
}

void PointLists::run(gpu::BoundLaunches& copies, const Items& from, const Items& to, bool complex, bool packs) {
  gpu::LaunchScope run(runner_.queue(), stream_);
  std::byte* const in = runner_.queue().open(from.at, from.count * item_bytes(complex), Access::in, "values");
  std::byte* const out =
      runner_.queue().open(to.at, to.count * item_bytes(complex), packs ? Access::out : Access::both, "values");
  runner_.launch(copies, in, out);
  run.complete();
}

namespace {

std::vector<generator::nufft::ListedPiece> listed_pieces(std::span<const PointLists::Range> pieces, int slot) {
  std::vector<generator::nufft::ListedPiece> listed;
  for (const PointLists::Range& piece : pieces)
    listed.push_back({slot_ref(slot + static_cast<int>(listed.size())), piece.begin, piece.end - piece.begin});
  return listed;
}

}  // namespace

// 0: all that there are.
std::int64_t PointLists::most_blocks(bool beside) {
  constexpr std::int64_t kBeside = 2;  // on a multiprocessor
  return beside ? kBeside * runner_.queue().traits().multiprocessors : 0;
}

gpu::BoundLaunches PointLists::sending(std::span<const Range> pieces, bool complex, std::int64_t cleared, bool beside) {
  std::vector<generator::nufft::ListedPiece> listed = listed_pieces(pieces, kPieces);
  if (cleared > 0)
    listed.push_back(generator::nufft::cleared_piece(slot_ref(kPieces + static_cast<int>(listed.size())), cleared));
  generator::GpuProgram program;
  generator::nufft::emit_sending(program, gpu::kFirst, slot_ref(kList), listed, problem_.precision, complex,
                                 most_blocks(beside));
  return runner_.make(program);
}

void PointLists::send(gpu::BoundLaunches& sending, const Items& from, std::span<const Items> to, bool complex,
                      const Bytes& cleared, void* stream) {
  gpu::LaunchScope run(runner_.queue(), stream != nullptr ? stream : stream_);
  std::byte* const in = runner_.queue().open(from.at, from.count * item_bytes(complex), Access::in, "values");
  for (std::size_t i = 0; i < to.size(); ++i)
    runner_.point(kPieces + static_cast<int>(i),
                  runner_.queue().open(to[i].at, to[i].count * item_bytes(complex), Access::out, "values"));
  if (cleared.count > 0)
    runner_.point(kPieces + static_cast<int>(to.size()),
                  runner_.queue().open(cleared.at, cleared.count, Access::out, "a grid"));
  runner_.bind(sending, true);
  runner_.launch(sending, in, nullptr);
  run.complete();
}

gpu::BoundLaunches PointLists::fetching(std::span<const Range> pieces, bool complex, bool beside) {
  generator::GpuProgram program;
  generator::nufft::emit_fetching(program, listed_pieces(pieces, kPieces), slot_ref(kList), gpu::kFirst,
                                  problem_.precision, complex, most_blocks(beside));
  return runner_.make(program);
}

void PointLists::fetch(gpu::BoundLaunches& fetching, std::span<const Items> from, const Items& to, bool complex,
                       void* stream) {
  gpu::LaunchScope run(runner_.queue(), stream != nullptr ? stream : stream_);
  std::byte* const out = runner_.queue().open(to.at, to.count * item_bytes(complex), Access::both, "values");
  for (std::size_t i = 0; i < from.size(); ++i)
    runner_.point(kPieces + static_cast<int>(i),
                  runner_.queue().open(from[i].at, from[i].count * item_bytes(complex), Access::in, "values"));
  runner_.bind(fetching, true);
  runner_.launch(fetching, out, nullptr);
  run.complete();
}

}  // namespace fourtune::runtime
