#include "runtime/distributed/gpu_moved_points.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace fourtune::runtime::distributed {

using Lane = DeviceStreams::Lane;

namespace {

constexpr int kThere = 0, kBack = 1;         // slots of the exchange
constexpr int kFirstPartMark = 64;           // behind those of the exchanges of points and planes
constexpr std::int64_t kLittle = 256 << 20;  // bytes

std::vector<std::int64_t> list_starts(const std::vector<std::int64_t>& counts) {
  std::vector<std::int64_t> starts(counts.size() + 1, 0);
  std::partial_sum(counts.begin(), counts.end(), starts.begin() + 1);
  return starts;
}

}  // namespace

GpuMovedPoints::GpuMovedPoints(const Communicator& ranks, const Problem& problem, const gpu::ProgramBackend& backend,
                               const DeviceSlab& slab, const RankDevice& device, const DeviceCopy& memory,
                               RankExchange way)
    : ranks_(ranks),
      problem_(problem),
      cells_(slab.cells),
      parts_(slab.parts),
      way_(way),
      streams_(*device.streams),
      memory_(memory),
      lists_(problem, backend.queue(device.number), device.streams->stream(Lane::work), 1,
             ranks.size() * slab.parts + 1),
      exchange_(ranks, *device.streams, memory, way, device.nccl),
      peers_(ranks, *device.streams) {}

std::vector<std::int64_t> GpuMovedPoints::locate(const generator::nufft::StageKernels& kernels, const PointSet& points,
                                                 const std::array<generator::nufft::Map, 3>& maps) {
  if (points.m > std::numeric_limits<std::int32_t>::max())
    throw Error(Status::size_overflow, "more than 2147483647 points on one rank; use more ranks");
  own_ = points.m;
  return lists_.locate(kernels, points, cells_, 0, maps);
}

void GpuMovedPoints::plan(const std::vector<std::int64_t>& at_cells, const DeviceSlab& slab, std::int64_t cleared) {
  const int ranks = ranks_.size(), self = ranks_.rank();
  using Counts = std::vector<std::int64_t>;  // by rank
  std::vector<Counts> leave(static_cast<std::size_t>(parts_) + 1, Counts(static_cast<std::size_t>(ranks), 0));
  const std::vector<std::int32_t> owners = slab.owners(), neighbours = slab.neighbours();
  const auto count = [&](int kind, int rank, std::int64_t points) {
    leave[static_cast<std::size_t>(kind)][static_cast<std::size_t>(rank)] += points;
  };
  for (std::size_t c = 0; c < at_cells.size(); ++c) {
    count(of_part(owners[c] % parts_), owners[c] / parts_, at_cells[c]);
    if (neighbours[c] >= 0) count(1, neighbours[c], at_cells[c]);
  }
  Counts all(at(ranks, 0));
  come_ = received_ = all;
  for (int kind = 0; kind <= parts_; ++kind) {
    const Counts &go = leave[static_cast<std::size_t>(kind)], come = ranks_.swap(go);
    for (int r = 0; r < ranks; ++r) {
      all[at(r, kind)] = go[static_cast<std::size_t>(r)];
      come_[at(r, kind)] = come[static_cast<std::size_t>(r)];
    }
  }
  sent_ = list_starts(all);
  place_arrivals();
  // Peers find everything where it is.
  const std::int64_t packed = way_ == RankExchange::peer ? 0 : sent_.back() * item_bytes(true);
  cleared_ = cleared;
  std::vector<int> others;
  for (int r = 0; r < ranks; ++r) {
    std::int64_t moved = 0;
    for (int p = 0; p < parts_; ++p) moved += sent(r, of_part(p)) + come_[at(r, of_part(p))];
    if (r != self && moved > 0) others.push_back(r);
  }
  peers_.with(others);
  ranks_.together([&] {
    stays_ = parts_ == 1 && sent(self, 0) == own_ && sent_.back() == own_ && arrived() == own_;
    if (arrived() > std::numeric_limits<std::int32_t>::max())
      throw Error(Status::size_overflow, "more than 2147483647 points move to one rank; use more ranks");
    if (stays_) return;
    list(slab);
    memory_.resize(packed_, packed);
    held_ = packed;
    for (int d = 0; d < problem_.dim; ++d)
      memory_.resize(coordinates_[static_cast<std::size_t>(d)],
                     std::max<std::int64_t>(1, arrived() * item_bytes(false)));
    const Parts all_parts{0, parts_};
    sending_reals_ = lists_.sending(leaving(all_parts), false);
    sending_.clear();
    for (int p = 0; p < parts_; ++p) sending_.push_back(lists_.sending(leaving({p, p + 1}), true, 0, p > 0));
    if (cleared_ > 0) clearing_ = lists_.sending(leaving({0, 1}), true, cleared_);
    make_returns();
    exchange_.reserve(kThere, blocks(nullptr, nullptr, item_bytes(false), all_parts));
    exchange_.reserve(kThere, blocks(nullptr, nullptr, item_bytes(true), all_parts));
    exchange_.reserve(kBack, blocks(nullptr, nullptr, item_bytes(true), {}));
  });
}

// Part by part, and in a part rank by rank.
void GpuMovedPoints::place_arrivals() {
  std::vector<std::int64_t> starts;
  std::int64_t place = 0;
  for (int p = 0; p < parts_; ++p) {
    starts.push_back(place);
    for (int r = 0; r < ranks_.size(); ++r)
      for (const int kind : {of_part(p), 1}) {
        if (kind == 1 && p > 0) continue;
        received_[at(r, kind)] = place;
        place += come_[at(r, kind)];
      }
  }
  starts.push_back(place);
  arrivals_ = Split(std::move(starts));
  there_.clear();
  for (int p = 0; p < parts_; ++p) {
    std::vector<std::int64_t> theirs;
    for (int r = 0; r < ranks_.size(); ++r) theirs.push_back(received_[at(r, of_part(p))]);
    there_.push_back(ranks_.swap(theirs));
  }
}

// Of what comes back, copies have no part; they lie behind each rank's points of the first part, so they are left out
// by their places.
void GpuMovedPoints::make_returns() {
  const int self = ranks_.rank();
  const bool peers = way_ == RankExchange::peer;
  fetching_.clear();
  for (int p = 0; p < parts_; ++p) {
    std::vector<PointLists::Range> back;
    for (int step = peers ? 0 : 1; step < ranks_.size(); ++step) {
      const int rank = (self + step) % ranks_.size();
      const std::int64_t begin = sent_[at(rank, of_part(p))], count = sent(rank, of_part(p));
      if (count > 0) back.push_back({begin, begin + count});
    }
    if (peers) {
      fetching_.push_back(lists_.fetching(back, true, p + 1 < parts_));
    } else {
      const PointLists::Range own{sent_[at(self, 0)], sent_[at(self, 0) + 1], 0, received_[at(self, 0)]};
      unpacking_own_ = lists_.copies({&own, 1}, true, false);
      unpacking_ = lists_.copies(back, true, false);
    }
  }
}

// Destinations are numbered as in sent_.
void GpuMovedPoints::list(const DeviceSlab& slab) {
  std::vector<std::int32_t> to = slab.owners(), also = slab.neighbours();
  for (std::int32_t& p : to) p = static_cast<std::int32_t>(at(p / parts_, of_part(p % parts_)));
  for (std::int32_t& r : also) r = r < 0 ? -1 : static_cast<std::int32_t>(at(r, 1));
  lists_.list(to, also, sent_);
}

// This rank first, and part by part.
std::vector<PointLists::Range> GpuMovedPoints::leaving(const Parts& parts) const {
  std::vector<PointLists::Range> ranges;
  for (int step = 0; step < ranks_.size(); ++step)
    for (int p = parts.begin; p < parts.end; ++p) {
      const std::size_t first = at((ranks_.rank() + step) % ranks_.size(), of_part(p));
      if (const PointLists::Range range{sent_[first], sent_[first + (p == 0 ? 2 : 1)]}; range.end > range.begin)
        ranges.push_back(range);
    }
  return ranges;
}

// Of one array of items: packed by destinations on one side, by parts and the ranks that they came from on the other.
// What stays on this rank has no message. No parts: values that come back, all at once.
DeviceBlocks GpuMovedPoints::blocks(char* packed, char* arrived, std::int64_t item, const Parts& parts) const {
  DeviceBlocks blocks;
  const bool out = parts.end > 0;
  const auto block = [&](int rank, char* array, std::int64_t begin, std::int64_t count) {
    return DeviceBlock{rank, array, {begin * item, 1, count * item, count * item}, 1, count * item};
  };
  for (int step = 1; step < ranks_.size(); ++step)
    for (int p = parts.begin; p < (out ? parts.end : 1); ++p) {
      const int other = (ranks_.rank() + step) % ranks_.size(), kind = of_part(p);
      const bool copies = out && p == 0;
      const DeviceBlock here =
          block(other, packed, sent_[at(other, kind)], sent(other, kind) + (copies ? sent(other, 1) : 0));
      const DeviceBlock there = block(other, arrived, received_[at(other, kind)],
                                      come_[at(other, kind)] + (copies ? come_[at(other, 1)] : 0));
      if (!here.slice.empty()) (out ? blocks.send : blocks.receive).push_back(here);
      if (!there.slice.empty()) (out ? blocks.receive : blocks.send).push_back(there);
    }
  return blocks;
}

void GpuMovedPoints::send(const Sending& what, void* items, char* arrived, const PointLists::Bytes& cleared) {
  const std::int64_t item = item_bytes(what.complex);
  const DeviceBlocks messages = blocks(static_cast<char*>(packed_.data()), arrived, item, what.parts);
  const int slot = kThere + what.parts.begin, self = ranks_.rank();
  // Behind the first part, which is being spread, is nothing that later ones wait for.
  const Lane lane = what.parts.begin > 0 ? Lane::exchange : Lane::work;
  const auto make = [&](std::span<char* const> there) {
    std::vector<PointLists::Items> to;
    for (int p = what.parts.begin; p < what.parts.end; ++p) {
      const std::int64_t count = sent(self, of_part(p)) + (p == 0 ? sent(self, 1) : 0);
      if (count > 0) to.push_back({arrived + received_[at(self, of_part(p))] * item, count});
    }
    for (std::size_t i = 0; i < there.size(); ++i) to.push_back({there[i], messages.send[i].bytes() / item});
    lists_.send(what.launches, {items, own_}, to, what.complex, cleared, streams_.stream(lane));
  };
  exchange_.begin(slot, messages, make, lane);
  exchange_.wait(slot);
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
    send({sending_reals_, false, {0, parts_}}, const_cast<void*>(from[at]),
         static_cast<char*>(lands ? landing : coordinate));
    const std::int64_t bytes = arrived() * item_bytes(false);
    if (lands) local.run([&] { streams_.copy(Lane::work, {coordinate, bytes}, {landing, bytes}, bytes, 1); });
    *to[at] = coordinates_[at].data();
  }
  return moved;
}

// Little is kept: allocating and freeing three arrays takes milliseconds, as long as all else.
void GpuMovedPoints::release() {
  std::int64_t bytes = 0;
  for (const DeviceArray& coordinate : coordinates_) bytes += static_cast<std::int64_t>(coordinate.bytes());
  if (bytes <= kLittle) return;
  for (DeviceArray& coordinate : coordinates_) coordinate = DeviceArray();
}

std::int64_t GpuMovedPoints::bytes() const {
  std::int64_t held = lists_.held() + exchange_.bytes() + held_;
  for (const DeviceArray& coordinate : coordinates_) held += static_cast<std::int64_t>(coordinate.bytes());
  return held;
}

void GpuMovedPoints::follow(int part, void* own, void* moved, void* cleared) {
  if (stays_) return;
  const bool clears = part == 0 && cleared != nullptr;
  send({clears ? clearing_ : sending_[static_cast<std::size_t>(part)], true, {part, part + 1}}, own,
       static_cast<char*>(moved), clears ? PointLists::Bytes{cleared, cleared_} : PointLists::Bytes{});
}

void GpuMovedPoints::await(void* moved) {
  if (way_ != RankExchange::peer || stays_) return;
  if (std::exchange(fetches_, true)) streams_.wait(Lane::work);  // what this rank still reads of others
  peers_.open(moved);
}

void GpuMovedPoints::part_is_there(int part) {
  if (parts_ > 1) streams_.mark(kFirstPartMark + part, Lane::work);
}

void GpuMovedPoints::come_back(void* moved, void* own, LocalWork& local) {
  if (stays_) return;
  if (way_ == RankExchange::peer) {
    for (int p = 0; p < parts_; ++p) {
      parts_ > 1 ? peers_.meet(kFirstPartMark + p) : peers_.meet();
      local.run([&] { fetch(p, own); });
    }
    if (parts_ > 1) streams_.follow(Lane::work, Lane::exchange);
    return;
  }
  auto *const packed = static_cast<char*>(packed_.data()), *const here = static_cast<char*>(moved);
  exchange_.begin(kBack, blocks(packed, here, item_bytes(true), {}));
  local.run([&] { lists_.run(unpacking_own_, {here, arrived()}, {own, own_}, true, false); });
  exchange_.wait(kBack);
  local.run([&] { lists_.run(unpacking_, {packed, sent_.back()}, {own, own_}, true, false); });
}

// Values of this rank's points, from the ranks that they were moved to; copies have none. Where there are several parts
// Lane::work goes on with the next one.
void GpuMovedPoints::fetch(int part, void* own) {
  if (peers_.all().empty()) return;
  std::vector<PointLists::Items> from;
  for (int step = 0; step < ranks_.size(); ++step) {
    const int rank = (ranks_.rank() + step) % ranks_.size();
    const auto there = static_cast<std::size_t>(rank);
    if (const std::int64_t count = sent(rank, of_part(part)); count > 0)
      from.push_back(
          {static_cast<char*>(peers_.all()[there]) + there_[static_cast<std::size_t>(part)][there] * item_bytes(true),
           count});
  }
  lists_.fetch(fetching_[static_cast<std::size_t>(part)], from, {own, own_}, true,
               parts_ > 1 ? streams_.stream(Lane::exchange) : nullptr);
}

}  // namespace fourtune::runtime::distributed
