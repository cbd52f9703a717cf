#include "runtime/distributed/gpu_moved_points.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace fourtune::runtime::distributed {

using Lane = DeviceStreams::Lane;

namespace {

constexpr int kThere = 0, kBack = 1;  // slots of the exchange; each part that comes back has one
constexpr double kMostParts = 4;

std::vector<std::int64_t> list_starts(const std::vector<std::int64_t>& counts) {
  std::vector<std::int64_t> starts(counts.size() + 1, 0);
  std::partial_sum(counts.begin(), counts.end(), starts.begin() + 1);
  return starts;
}

std::pair<std::int64_t, std::int64_t> part_of(std::int64_t begin, std::int64_t end, std::int64_t part,
                                              std::int64_t parts) {
  const std::int64_t count = end - begin;
  return {begin + count / parts * part + std::min(part, count % parts),
          begin + count / parts * (part + 1) + std::min(part + 1, count % parts)};
}

}  // namespace

GpuMovedPoints::GpuMovedPoints(const Communicator& ranks, const Problem& problem, const gpu::ProgramBackend& backend,
                               std::int64_t cells, const RankDevice& device, const DeviceCopy& memory, Exchange way)
    : ranks_(ranks),
      problem_(problem),
      cells_(cells),
      way_(way),
      streams_(*device.streams),
      memory_(memory),
      lists_(problem, backend.queue(device.number), device.streams->stream(Lane::work), 1, ranks.size()),
      exchange_(ranks, *device.streams, memory, way, device.nccl) {}

std::vector<std::int64_t> GpuMovedPoints::locate(const generator::nufft::Kernels& kernels, const PointSet& points) {
  if (points.m > std::numeric_limits<std::int32_t>::max())
    throw Error(Status::size_overflow, "more than 2147483647 points on one rank; use more ranks");
  own_ = points.m;
  return lists_.locate(kernels, points, cells_);
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
  const std::int64_t packed = std::accumulate(sent.begin(), sent.end(), std::int64_t{0}) * item_bytes(true);
  exchange_.forget(static_cast<std::int64_t>(packed_.bytes()) < packed);
  const double most = ranks_.largest(static_cast<double>(packed));
  const int parts = way_ == Exchange::peer ? static_cast<int>(std::clamp(most / part_bytes, 1.0, kMostParts)) : 1;
  ranks_.together([&] {
    sent_ = list_starts(sent), received_ = list_starts(received);
    stays_ = leave[0][self] == own_ && sent_.back() == own_ && arrived() == own_;
    if (arrived() > std::numeric_limits<std::int32_t>::max())
      throw Error(Status::size_overflow, "more than 2147483647 points move to one rank; use more ranks");
    if (stays_) return;
    list(owners, neighbours);
    memory_.resize(packed_, std::max<std::int64_t>(1, packed));
    held_ = packed;
    for (int d = 0; d < problem_.dim; ++d)
      memory_.resize(coordinates_[static_cast<std::size_t>(d)],
                     std::max<std::int64_t>(1, arrived() * item_bytes(false)));
    // Of what comes back, copies have no part; they lie behind each rank's points, so they are left out by their places.
    const PointLists::Range own{sent_[2 * self], sent_[2 * self + 1], 0, received_[2 * self]};
    std::vector<PointLists::Range> leaving;
    std::vector<std::vector<PointLists::Range>> back(static_cast<std::size_t>(parts));
    for (std::size_t step = 0; step < ranks; ++step) {
      const std::size_t at = 2 * ((self + step) % ranks);
      if (sent_[at + 2] > sent_[at]) leaving.push_back({sent_[at], sent_[at + 2]});
      for (int part = 0; part < parts && step > 0; ++part) {
        const auto [begin, end] = part_of(sent_[at], sent_[at + 1], part, parts);
        if (end > begin) back[static_cast<std::size_t>(part)].push_back({begin, end});
      }
    }
    sending_reals_ = lists_.sending(leaving, false), sending_ = lists_.sending(leaving, true);
    unpacking_own_ = lists_.copies({&own, 1}, true, false);
    unpacking_.clear();
    for (const auto& ranges : back) unpacking_.push_back(lists_.copies(ranges, true, false));
    exchange_.reserve(kThere, blocks(nullptr, nullptr, item_bytes(false), true));
    exchange_.reserve(kThere, blocks(nullptr, nullptr, item_bytes(true), true));
    exchange_.reserve(kBack, blocks(nullptr, nullptr, item_bytes(true), false));
  });
}

// Destinations are numbered as in sent_.
void GpuMovedPoints::list(const std::vector<std::int32_t>& owners, const std::vector<std::int32_t>& neighbours) {
  std::vector<std::int32_t> to = owners, also = neighbours;
  for (std::int32_t& r : to) r = 2 * r;
  for (std::int32_t& r : also) r = r < 0 ? -1 : 2 * r + 1;
  lists_.list(to, also, sent_);
}

// Of one array of items: packed by destinations on one side, by ranks that they came from on the other. What stays on this
// rank has no message.
DeviceBlocks GpuMovedPoints::blocks(char* packed, char* arrived, std::int64_t item, bool out, int part,
                                    int parts) const {
  DeviceBlocks blocks;
  const auto of = [&](int rank, char* array, const std::vector<std::int64_t>& starts) {
    const std::size_t at = 2 * static_cast<std::size_t>(rank);
    const auto [begin, end] = part_of(starts[at], starts[out ? at + 2 : at + 1], part, parts);
    const std::int64_t bytes = (end - begin) * item;
    return DeviceBlock{rank, array, {begin * item, 1, bytes, bytes}, 1, bytes};
  };
  for (int step = 1; step < ranks_.size(); ++step) {
    const int other = (ranks_.rank() + step) % ranks_.size();
    const DeviceBlock here = of(other, packed, sent_), there = of(other, arrived, received_);
    if (!here.slice.empty()) (out ? blocks.send : blocks.receive).push_back(here);
    if (!there.slice.empty()) (out ? blocks.receive : blocks.send).push_back(there);
  }
  return blocks;
}

void GpuMovedPoints::send(gpu::Part& sending, void* items, char* arrived, bool complex) {
  const std::int64_t item = item_bytes(complex);
  const DeviceBlocks messages = blocks(static_cast<char*>(packed_.data()), arrived, item, true);
  const auto self = 2 * static_cast<std::size_t>(ranks_.rank());
  exchange_.begin(kThere, messages, [&](std::span<char* const> there) {
    std::vector<PointLists::Items> to;
    const std::int64_t own = sent_[self + 2] - sent_[self];
    if (own > 0) to.push_back({arrived + received_[self] * item, own});
    for (std::size_t i = 0; i < there.size(); ++i) to.push_back({there[i], messages.send[i].bytes() / item});
    lists_.send(sending, {items, own_}, to, complex);
  });
  exchange_.wait(kThere);
}

PointSet GpuMovedPoints::move(const PointSet& own, void* landing, LocalWork& local) {
  if (stays_) return own;
  PointSet moved;
  moved.m = arrived();
  const std::array<const void*, 3> from{own.x, own.y, own.z};
  const std::array<const void**, 3> to{&moved.x, &moved.y, &moved.z};
  for (int d = 0; d < problem_.dim; ++d) {
    const auto at = static_cast<std::size_t>(d);
    void* const coordinate = coordinates_[at].data();
    const bool lands = way_ == Exchange::peer;  // coordinates end with this call, and opening memory takes milliseconds
    send(sending_reals_, const_cast<void*>(from[at]), static_cast<char*>(lands ? landing : coordinate), false);
    const std::int64_t bytes = arrived() * item_bytes(false);
    if (lands) local.run([&] { streams_.copy(Lane::work, {coordinate, bytes}, {landing, bytes}, bytes, 1); });
    *to[at] = coordinates_[at].data();
  }
  return moved;
}

void GpuMovedPoints::release() {
  for (DeviceArray& coordinate : coordinates_) coordinate = DeviceArray();
}

void GpuMovedPoints::follow(void* own, void* moved) {
  if (stays_) return;
  send(sending_, own, static_cast<char*>(moved), true);
}

void GpuMovedPoints::come_back(void* moved, void* own, LocalWork& local) {
  if (stays_) return;
  auto *const packed = static_cast<char*>(packed_.data()), *const here = static_cast<char*>(moved);
  const int parts = static_cast<int>(unpacking_.size());
  for (int part = 0; part < parts; ++part)
    exchange_.begin(kBack + part, blocks(packed, here, item_bytes(true), false, part, parts));
  local.run([&] { lists_.run(unpacking_own_, {here, arrived()}, {own, own_}, true, false); });
  for (int part = 0; part < parts; ++part) {
    exchange_.wait(kBack + part);
    local.run([&] {
      lists_.run(unpacking_[static_cast<std::size_t>(part)], {packed, sent_.back()}, {own, own_}, true, false);
    });
  }
}

}  // namespace fourtune::runtime::distributed
