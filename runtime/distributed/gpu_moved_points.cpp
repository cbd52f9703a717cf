#include "runtime/distributed/gpu_moved_points.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace fourtune::runtime::distributed {

using Lane = DeviceStreams::Lane;

namespace {

constexpr int kThere = 0, kBack = 1;  // slots of the exchange

std::vector<std::int64_t> list_starts(const std::vector<std::int64_t>& counts) {
  std::vector<std::int64_t> starts(counts.size() + 1, 0);
  std::partial_sum(counts.begin(), counts.end(), starts.begin() + 1);
  return starts;
}

}  // namespace

GpuMovedPoints::GpuMovedPoints(const Communicator& ranks, const Problem& problem, const gpu::ProgramBackend& backend,
                               std::int64_t cells, const RankDevice& device, const DeviceCopy& memory, RankExchange way)
    : ranks_(ranks),
      problem_(problem),
      cells_(cells),
      way_(way),
      streams_(*device.streams),
      memory_(memory),
      lists_(problem, backend.queue(device.number), device.streams->stream(Lane::work), 1, ranks.size() + 1),
      exchange_(ranks, *device.streams, memory, way, device.nccl),
      peers_(ranks, *device.streams) {}

std::vector<std::int64_t> GpuMovedPoints::locate(const generator::nufft::StageKernels& kernels, const PointSet& points,
                                                 const std::array<generator::nufft::Map, 3>& maps) {
  if (points.m > std::numeric_limits<std::int32_t>::max())
    throw Error(Status::size_overflow, "more than 2147483647 points on one rank; use more ranks");
  own_ = points.m;
  return lists_.locate(kernels, points, cells_, 0, maps);
}

void GpuMovedPoints::plan(const std::vector<std::int64_t>& at_cells, const std::vector<std::int32_t>& owners,
                          const std::vector<std::int32_t>& neighbours, std::int64_t cleared) {
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
  // Peers find everything where it is.
  const std::int64_t packed =
      way_ == RankExchange::peer ? 0 : std::accumulate(sent.begin(), sent.end(), std::int64_t{0}) * item_bytes(true);
  sent_ = list_starts(sent), received_ = list_starts(received);
  std::vector<std::int64_t> theirs;  // by rank: where its points begin here
  for (std::size_t r = 0; r < ranks; ++r) theirs.push_back(received_[2 * r]);
  there_ = ranks_.swap(theirs);
  cleared_ = cleared;
  std::vector<int> others;
  for (std::size_t r = 0; r < ranks; ++r)
    if (r != self && sent[2 * r] + received[2 * r] > 0) others.push_back(static_cast<int>(r));
  peers_.with(others);
  ranks_.together([&] {
    stays_ = leave[0][self] == own_ && sent_.back() == own_ && arrived() == own_;
    if (arrived() > std::numeric_limits<std::int32_t>::max())
      throw Error(Status::size_overflow, "more than 2147483647 points move to one rank; use more ranks");
    if (stays_) return;
    list(owners, neighbours);
    memory_.resize(packed_, packed);
    held_ = packed;
    for (int d = 0; d < problem_.dim; ++d)
      memory_.resize(coordinates_[static_cast<std::size_t>(d)],
                     std::max<std::int64_t>(1, arrived() * item_bytes(false)));
    // Of what comes back, copies have no part; they lie behind each rank's points, so they are left out by their
    // places.
    const PointLists::Range own{sent_[2 * self], sent_[2 * self + 1], 0, received_[2 * self]};
    std::vector<PointLists::Range> leaving, back;
    for (std::size_t step = 0; step < ranks; ++step) {
      const std::size_t at = 2 * ((self + step) % ranks);
      if (sent_[at + 2] > sent_[at]) leaving.push_back({sent_[at], sent_[at + 2]});
      if (sent_[at + 1] > sent_[at] && (step > 0 || way_ == RankExchange::peer))
        back.push_back({sent_[at], sent_[at + 1]});
    }
    sending_reals_ = lists_.sending(leaving, false), sending_ = lists_.sending(leaving, true);
    if (cleared_ > 0) clearing_ = lists_.sending(leaving, true, cleared_);
    if (way_ == RankExchange::peer) {
      fetching_ = lists_.fetching(back, true);
    } else {
      unpacking_own_ = lists_.copies({&own, 1}, true, false);
      unpacking_ = lists_.copies(back, true, false);
    }
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

// Of one array of items: packed by destinations on one side, by ranks that they came from on the other. What stays on
// this rank has no message.
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
  return blocks;
}

void GpuMovedPoints::send(gpu::BoundLaunches& sending, void* items, char* arrived, bool complex,
                          const PointLists::Bytes& cleared) {
  const std::int64_t item = item_bytes(complex);
  const DeviceBlocks messages = blocks(static_cast<char*>(packed_.data()), arrived, item, true);
  const auto self = 2 * static_cast<std::size_t>(ranks_.rank());
  exchange_.begin(kThere, messages, [&](std::span<char* const> there) {
    std::vector<PointLists::Items> to;
    const std::int64_t own = sent_[self + 2] - sent_[self];
    if (own > 0) to.push_back({arrived + received_[self] * item, own});
    for (std::size_t i = 0; i < there.size(); ++i) to.push_back({there[i], messages.send[i].bytes() / item});
    lists_.send(sending, {items, own_}, to, complex, cleared);
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
    const bool lands =
        way_ == RankExchange::peer;  // coordinates end with this call, and opening memory takes milliseconds
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

void GpuMovedPoints::follow(void* own, void* moved, void* cleared) {
  if (stays_) return;
  if (cleared == nullptr) return send(sending_, own, static_cast<char*>(moved), true);
  send(clearing_, own, static_cast<char*>(moved), true, {cleared, cleared_});
}

void GpuMovedPoints::await(void* moved) {
  if (way_ != RankExchange::peer || stays_) return;
  if (std::exchange(fetches_, true)) streams_.wait(Lane::work);  // what this rank still reads of others
  peers_.open(moved);
}

void GpuMovedPoints::come_back(void* moved, void* own, LocalWork& local) {
  if (stays_) return;
  if (way_ == RankExchange::peer) {
    peers_.meet();
    return local.run([&] { fetch(own); });
  }
  auto *const packed = static_cast<char*>(packed_.data()), *const here = static_cast<char*>(moved);
  exchange_.begin(kBack, blocks(packed, here, item_bytes(true), false));
  local.run([&] { lists_.run(unpacking_own_, {here, arrived()}, {own, own_}, true, false); });
  exchange_.wait(kBack);
  local.run([&] { lists_.run(unpacking_, {packed, sent_.back()}, {own, own_}, true, false); });
}

// Values of this rank's points, from the ranks that they were moved to; copies have none.
void GpuMovedPoints::fetch(void* own) {
  if (peers_.all().empty()) return;
  std::vector<PointLists::Items> from;
  const auto ranks = static_cast<std::size_t>(ranks_.size());
  for (std::size_t step = 0; step < ranks; ++step) {
    const std::size_t rank = (static_cast<std::size_t>(ranks_.rank()) + step) % ranks;
    const std::int64_t count = sent_[2 * rank + 1] - sent_[2 * rank];
    if (count > 0) from.push_back({static_cast<char*>(peers_.all()[rank]) + there_[rank] * item_bytes(true), count});
  }
  lists_.fetch(fetching_, from, {own, own_}, true);
}

}  // namespace fourtune::runtime::distributed
