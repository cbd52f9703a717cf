#include "runtime/distributed/gpu_moved_points.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <span>

#include "generator/codegen/nufft/slabs.h"
#include "runtime/backends/gpu/nufft_common.h"

namespace fourtune::runtime::distributed {

using gpu::Access;
using gpu::slot_ref;
using Lane = DeviceStreams::Lane;

namespace {

constexpr int kThere = 0, kBack = 1;  // slots of the exchange

std::vector<std::int64_t> starts_of(const std::vector<std::int64_t>& counts) {
  std::vector<std::int64_t> starts(counts.size() + 1, 0);
  std::partial_sum(counts.begin(), counts.end(), starts.begin() + 1);
  return starts;
}

template <class T>
std::span<const std::byte> bytes_of(const std::vector<T>& values) {
  return std::as_bytes(std::span(values));
}

}  // namespace

GpuMovedPoints::GpuMovedPoints(const Communicator& ranks, const Problem& problem, const gpu::ProgramBackend& backend,
                               std::int64_t cells, const RankDevice& device, const DeviceCopy& memory, Exchange way)
    : ranks_(ranks),
      problem_(problem),
      cells_(cells),
      streams_(*device.streams),
      memory_(memory),
      runner_(backend.queue(device.number), kSlots, false),
      exchange_(ranks, streams_, memory, way, device.nccl) {}

std::vector<std::int64_t> GpuMovedPoints::locate(const generator::nufft::Kernels& kernels, const PointSet& points) {
  if (points.m > std::numeric_limits<std::int32_t>::max())
    throw Error(Status::size_overflow, "more than 2147483647 points on one rank; use more ranks");
  runner_.reserve(kCells, 4 * points.m, "the points' cells", true);
  runner_.reserve(kCounts, 8 * cells_, "the points of cells");
  runner_.reserve(kStatus, 32, "the status");
  generator::GpuProgram program;
  generator::nufft::Arrays arrays;
  arrays.points = {slot_ref(kX), slot_ref(kY), slot_ref(kZ)};
  kernels.emit_cells(program, arrays, points.m, slot_ref(kCells), slot_ref(kCounts), slot_ref(kStatus));
  runner_.change(locating_, program);
  std::vector<std::int64_t> counts(static_cast<std::size_t>(cells_));
  gpu::Run run(runner_.queue(), streams_.stream(Lane::work));
  const std::array<const void*, 3> given{points.x, points.y, points.z};
  std::array<const std::byte*, 3> opened{};
  for (int d = 0; d < problem_.dim; ++d) {
    const auto at = static_cast<std::size_t>(d);
    std::byte* const there = runner_.queue().open(const_cast<void*>(given[at]),
                                                  points.m * real_bytes(problem_.precision), Access::in, "points");
    runner_.point(kX + d, there);
    opened[at] = there;
  }
  runner_.bind(locating_, true);
  runner_.launch(locating_, nullptr, nullptr);
  gpu::check_status(runner_.queue(), runner_.data(kStatus), opened, problem_.dim, problem_.precision, "xyz");
  runner_.queue().read(counts.data(), runner_.data(kCounts), counts.size() * 8);
  run.complete();
  own_ = points.m;
  return counts;
}

void GpuMovedPoints::plan(const std::vector<std::int64_t>& at_cells, const std::vector<std::int32_t>& owners,
                          const std::vector<std::int32_t>& neighbours) {
  const auto ranks = static_cast<std::size_t>(ranks_.size()), self = static_cast<std::size_t>(ranks_.rank());
  std::array<std::vector<std::int64_t>, 2> leave{std::vector<std::int64_t>(ranks, 0),
                                                 std::vector<std::int64_t>(ranks, 0)};
  for (std::size_t c = 0; c < at_cells.size(); ++c) {
    leave[0][static_cast<std::size_t>(owners[c])] += at_cells[c];
    if (neighbours[c] >= 0) leave[1][static_cast<std::size_t>(neighbours[c])] += at_cells[c];
  }
  const std::array<std::vector<std::int64_t>, 2> come{ranks_.swap(leave[0]), ranks_.swap(leave[1])};
  std::vector<std::int64_t> sent(2 * ranks), received(2 * ranks);
  for (std::size_t r = 0; r < ranks; ++r)
    for (std::size_t kind = 0; kind < 2; ++kind)
      sent[2 * r + kind] = leave[kind][r], received[2 * r + kind] = come[kind][r];
  ranks_.together([&] {
    sent_ = starts_of(sent), received_ = starts_of(received);
    stays_ = leave[0][self] == own_ && sent_.back() == own_ && arrived() == own_;
    if (arrived() > std::numeric_limits<std::int32_t>::max())
      throw Error(Status::size_overflow, "more than 2147483647 points move to one rank; use more ranks");
    if (stays_) return;
    list(owners, neighbours);
    memory_.resize(packed_, std::max<std::int64_t>(1, sent_.back() * complex_bytes()));
    held_ = sent_.back() * complex_bytes();
    for (int d = 0; d < problem_.dim; ++d)
      memory_.resize(coordinates_[static_cast<std::size_t>(d)],
                     std::max<std::int64_t>(1, arrived() * real_bytes(problem_.precision)));
    packing_reals_ = packing(false, true), packing_ = packing(true, true), unpacking_ = packing(true, false);
    exchange_.reserve(kThere, blocks(nullptr, nullptr, real_bytes(problem_.precision), true));
    exchange_.reserve(kThere, blocks(nullptr, nullptr, complex_bytes(), true));
    exchange_.reserve(kBack, blocks(nullptr, nullptr, complex_bytes(), false));
  });
}

// Destinations are numbered as in sent_.
void GpuMovedPoints::list(const std::vector<std::int32_t>& owners, const std::vector<std::int32_t>& neighbours) {
  std::vector<std::int32_t> to = owners, also = neighbours;
  for (std::int32_t& r : to) r = 2 * r;
  for (std::int32_t& r : also) r = r < 0 ? -1 : 2 * r + 1;
  const auto fill = [&](int slot, std::span<const std::byte> bytes) {
    runner_.reserve(slot, static_cast<std::int64_t>(bytes.size()), "the ranks of cells", true);
    runner_.upload(slot, bytes);
  };
  fill(kOwners, bytes_of(to));
  fill(kNeighbours, bytes_of(also));
  fill(kNext, bytes_of(sent_));
  runner_.reserve(kList, 4 * sent_.back(), "the list of points that move", true);
  generator::GpuProgram program;
  generator::nufft::emit_list(program, slot_ref(kCells), slot_ref(kOwners), slot_ref(kNeighbours), slot_ref(kNext),
                              slot_ref(kList), own_, 2 * ranks_.size());
  runner_.change(listing_, program);
  gpu::Run run(runner_.queue(), streams_.stream(Lane::work));
  runner_.launch(listing_, nullptr, nullptr);
  run.complete();
}

gpu::Part GpuMovedPoints::packing(bool complex, bool packs) {
  // Of what comes back, copies have no part; they lie behind each rank's points, so they are left out by their places.
  generator::GpuProgram program;
  for (int r = 0; r < ranks_.size(); ++r) {
    const std::size_t at = 2 * static_cast<std::size_t>(r);
    if (packs && r > 0) break;
    const std::int64_t begin = packs ? 0 : sent_[at], end = packs ? sent_.back() : sent_[at + 1];
    const std::int64_t item = complex ? complex_bytes() : real_bytes(problem_.precision);
    generator::BufferRef from = gpu::kFirst;
    if (!packs) from.byte_offset = begin * item;
    generator::nufft::emit_packing(program, from, slot_ref(kList, 4 * begin), gpu::kSecond, end - begin,
                                   problem_.precision, complex, packs);
  }
  return runner_.make(program);
}

void GpuMovedPoints::pack(gpu::Part& part, void* from, std::int64_t from_items, void* to, std::int64_t to_items,
                          std::int64_t item, bool packs) {
  gpu::Run run(runner_.queue(), streams_.stream(Lane::work));
  std::byte* const in = runner_.queue().open(from, from_items * item, Access::in, "values");
  std::byte* const out = runner_.queue().open(to, to_items * item, packs ? Access::out : Access::both, "values");
  runner_.launch(part, in, out);
  run.complete();
}

// Of one array of items: packed by destinations on one side, by ranks that they came from on the other.
DeviceBlocks GpuMovedPoints::blocks(char* packed, char* arrived, std::int64_t item, bool out) const {
  DeviceBlocks blocks;
  const auto of = [&](int rank, char* array, const std::vector<std::int64_t>& starts) {
    const std::size_t at = 2 * static_cast<std::size_t>(rank);
    const std::int64_t bytes = (starts[out ? at + 2 : at + 1] - starts[at]) * item;
    return DeviceBlock{rank, array, {starts[at] * item, 1, bytes, bytes}, 1, bytes};
  };
  for (int step = 1; step < ranks_.size(); ++step) {
    const int other = (ranks_.rank() + step) % ranks_.size();
    const DeviceBlock here = of(other, packed, sent_), there = of(other, arrived, received_);
    if (!here.slice.empty()) (out ? blocks.send : blocks.receive).push_back(here);
    if (!there.slice.empty()) (out ? blocks.receive : blocks.send).push_back(there);
  }
  blocks.own_from = of(ranks_.rank(), packed, sent_), blocks.own_to = of(ranks_.rank(), arrived, received_);
  if (blocks.own_from.slice.empty()) blocks.own_from.slice = blocks.own_to.slice = {};
  if (!out) std::swap(blocks.own_from, blocks.own_to);
  return blocks;
}

void GpuMovedPoints::exchange(int slot, char* packed, char* arrived, std::int64_t item, bool out) {
  exchange_.begin(slot, blocks(packed, arrived, item, out));
  exchange_.wait(slot);
}

PointSet GpuMovedPoints::move(const PointSet& own, LocalWork& local) {
  if (stays_) return own;
  const std::int64_t item = real_bytes(problem_.precision);
  PointSet moved;
  moved.m = arrived();
  const std::array<const void*, 3> from{own.x, own.y, own.z};
  const std::array<const void**, 3> to{&moved.x, &moved.y, &moved.z};
  for (int d = 0; d < problem_.dim; ++d) {
    const auto at = static_cast<std::size_t>(d);
    auto* const packed = static_cast<char*>(packed_.data());
    local.run([&] { pack(packing_reals_, const_cast<void*>(from[at]), own_, packed, sent_.back(), item, true); });
    exchange(kThere, packed, static_cast<char*>(coordinates_[at].data()), item, true);
    *to[at] = coordinates_[at].data();
  }
  return moved;
}

void GpuMovedPoints::release() {
  for (DeviceArray& coordinate : coordinates_) coordinate = DeviceArray();
}

void GpuMovedPoints::follow(void* own, void* moved, LocalWork& local) {
  if (stays_) return;
  local.run([&] { pack(packing_, own, own_, packed_.data(), sent_.back(), complex_bytes(), true); });
  exchange(kThere, static_cast<char*>(packed_.data()), static_cast<char*>(moved), complex_bytes(), true);
}

void GpuMovedPoints::come_back(void* moved, void* own, LocalWork& local) {
  if (stays_) return;
  exchange(kBack, static_cast<char*>(packed_.data()), static_cast<char*>(moved), complex_bytes(), false);
  local.run([&] { pack(unpacking_, packed_.data(), sent_.back(), own, own_, complex_bytes(), false); });
}

}  // namespace fourtune::runtime::distributed
