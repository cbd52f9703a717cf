#include "runtime/distributed/device_exchange.h"

#include <algorithm>

namespace fourtune::runtime::distributed {

using Lane = DeviceStreams::Lane;

namespace {

// Messages lie at places that suit any copy.
constexpr std::int64_t kAlignment = 256;
std::int64_t aligned(std::int64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

// The same rows without gaps.
DeviceBlock dense(const DeviceBlock& block, char* at) {
  DeviceBlock out = block;
  out.array = at;
  out.slice = {0, block.slice.rows, block.slice.bytes, block.slice.bytes};
  out.distance = block.slice.size();
  return out;
}

}  // namespace

DeviceExchange::DeviceExchange(const Communicator& ranks, DeviceStreams& streams, const DeviceCopy& memory,
                               RankExchange way, const NcclRanks* nccl, int first_mark)
    : ranks_(ranks),
      streams_(streams),
      memory_(memory),
      way_(way),
      nccl_(nccl),
      first_mark_(first_mark),
      peers_(ranks, streams) {}

DeviceExchange::~DeviceExchange() {
  for (const Slot& slot : slots_)
    for (const Side* side : {&slot.send, &slot.receive}) streams_.release_host(side->staged.data);
}

void DeviceExchange::reserve(int slot, const DeviceBlocks& blocks) {
  if (way_ == RankExchange::peer) return;
  while (static_cast<int>(slots_.size()) <= slot) slots_.emplace_back();
  reserve(slots_[static_cast<std::size_t>(slot)].send, blocks.send);
  reserve(slots_[static_cast<std::size_t>(slot)].receive, blocks.receive);
}

void DeviceExchange::reserve(Side& side, const std::vector<DeviceBlock>& blocks) {
  std::int64_t packed = 0, staged = 0;
  for (const DeviceBlock& block : blocks) {
    if (packs(block)) packed += aligned(block.bytes());
    if (way_ == RankExchange::host) staged += aligned(block.bytes());
    if (way_ != RankExchange::nccl && !rows_.contains(block.slice.bytes))
      rows_.emplace(block.slice.bytes, run_type(block.slice.bytes));
  }
  memory_.resize(side.packed, packed);
  side.packed_bytes = std::max(side.packed_bytes, packed);
  if (staged > side.staged.bytes) {
    streams_.release_host(side.staged.data);
    side.staged = {};
    side.staged = {streams_.allocate_host(staged), staged};
  }
  side.messages.reserve(blocks.size());
}

void DeviceExchange::lay(Side& side, const std::vector<DeviceBlock>& blocks) {
  side.messages.clear();
  auto* packed = static_cast<char*>(side.packed.data());
  auto* staged = static_cast<char*>(side.staged.data);
  for (const DeviceBlock& block : blocks) {
    Side::Message& message = side.messages.emplace_back();
    message.block = block;
    message.packed = block.array + block.slice.at;
    if (packs(block)) message.packed = packed, packed += aligned(block.bytes());
    if (way_ == RankExchange::host) message.staged = staged, staged += aligned(block.bytes());
  }
}

void DeviceExchange::copy(const DeviceBlock& to, const DeviceBlock& from) {
  for (std::int64_t i = 0; i < from.count; ++i)
    streams_.copy(Lane::copies, {to.array + i * to.distance + to.slice.at, to.slice.stride},
                  {from.array + i * from.distance + from.slice.at, from.slice.stride}, from.slice.bytes,
                  from.slice.rows);
}

void DeviceExchange::pack(const Side& side) {
  for (const Side::Message& message : side.messages)
    if (packs(message.block)) copy(dense(message.block, message.packed), message.block);
}

void DeviceExchange::unpack(const Side& side) {
  for (const Side::Message& message : side.messages)
    if (packs(message.block)) copy(message.block, dense(message.block, message.packed));
}

void DeviceExchange::stage(const Side& side, Lane lane, bool to_host) {
  if (way_ != RankExchange::host) return;
  for (const Side::Message& message : side.messages) {
    const std::int64_t bytes = message.block.bytes();
    const DeviceStreams::Rows host{message.staged, bytes}, device{message.packed, bytes};
    to_host ? streams_.copy(lane, host, device, bytes, 1) : streams_.copy(lane, device, host, bytes, 1);
  }
}

void DeviceExchange::begin(int slot, const DeviceBlocks& blocks) {
  if (way_ == RankExchange::peer) {
    streams_.follow(Lane::copies, Lane::work);
    peers_.begin(slot, blocks, moved(slot));
    return copy(blocks.own_to, blocks.own_from);
  }
  post();
  Slot& now = slots_[static_cast<std::size_t>(slot)];
  lay(now.send, blocks.send);
  lay(now.receive, blocks.receive);
  streams_.follow(Lane::copies, Lane::work);
  pack(now.send);
  streams_.follow(Lane::exchange, Lane::copies);
  if (way_ == RankExchange::nccl) {
    send_.clear(), receive_.clear();
    for (const auto& [block, packed, staged] : now.send.messages) send_.push_back({block.rank, packed, block.bytes()});
    for (const auto& [block, packed, staged] : now.receive.messages)
      receive_.push_back({block.rank, packed, block.bytes()});
    nccl_->begin(send_, receive_, Lane::exchange);
  } else {
    stage(now.send, Lane::exchange, true);
    unposted_ = slot;
  }
  streams_.mark(moved(slot), Lane::exchange);
  copy(blocks.own_to, blocks.own_from);
}

void DeviceExchange::begin(int slot, const DeviceBlocks& blocks, const PeerWrites::Make& make, Lane lane) {
  if (way_ == RankExchange::peer) {
    streams_.follow(Lane::copies, Lane::work);
    peers_.begin(slot, blocks, moved(slot), make, lane);
    return copy(blocks.own_to, blocks.own_from);
  }
  std::vector<char*> there;
  for (const DeviceBlock& block : blocks.send) there.push_back(block.array + block.slice.at);
  made_.run([&] { make(there); });
  begin(slot, blocks);
}

// The device has packed the messages, and is done with what they overwrite.
void DeviceExchange::post() {
  if (unposted_ < 0) return;
  Slot& slot = slots_[static_cast<std::size_t>(unposted_)];
  streams_.wait_for_mark(moved(unposted_));
  unposted_ = -1;
  mpi_send_.clear(), mpi_receive_.clear();
  const auto add = [&](std::vector<Message>& to, const Side::Message& one) {
    const Slice& slice = one.block.slice;
    to.push_back({one.block.rank, way_ == RankExchange::host ? one.staged : one.packed, one.block.count * slice.rows,
                  *rows_.at(slice.bytes)});
  };
  for (const auto& one : slot.send.messages) add(mpi_send_, one);
  for (const auto& one : slot.receive.messages) add(mpi_receive_, one);
  ranks_.begin(mpi_send_, mpi_receive_, slot.transfer);
}

void DeviceExchange::poll(int slot) {
  if ((way_ == RankExchange::mpi || way_ == RankExchange::host) && slot != unposted_)
    slots_[static_cast<std::size_t>(slot)].transfer.poll();
}

void DeviceExchange::wait(int slot) {
  if (way_ == RankExchange::peer) {
    peers_.wait(slot, moved(slot));
    streams_.mark(copied(slot), Lane::copies);
    return streams_.follow_mark(Lane::work, copied(slot));
  }
  Slot& now = slots_[static_cast<std::size_t>(slot)];
  if (way_ == RankExchange::nccl) {
    streams_.follow_mark(Lane::copies, moved(slot));
  } else {
    if (unposted_ == slot) post();
    now.transfer.wait();
    stage(now.receive, Lane::copies, false);
  }
  unpack(now.receive);
  streams_.mark(copied(slot), Lane::copies);
  streams_.follow_mark(Lane::work, copied(slot));
}

std::int64_t DeviceExchange::bytes() const {
  std::int64_t bytes = 0;
  for (const Slot& slot : slots_) bytes += slot.send.packed_bytes + slot.receive.packed_bytes;
  return bytes;
}

}  // namespace fourtune::runtime::distributed
