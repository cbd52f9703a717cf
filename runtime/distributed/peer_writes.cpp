#include "runtime/distributed/peer_writes.h"

#include <fmt/format.h>

#include <algorithm>

namespace fourtune::runtime::distributed {

using Lane = DeviceStreams::Lane;

PeerWrites::Invitation PeerWrites::invitation(const DeviceBlock& block) {
  Invitation out;
  local_.run([&] {
    out.place = streams_.share(block.array + block.slice.at);
    out.slice = block.slice;
    out.count = block.count;
    out.distance = block.distance;
  });
  return out;
}

void PeerWrites::copy_rows(char* to, Slice target, char* from, Slice source) {
  // Rows without gaps may be cut in any way.
  if (source.gapless()) source = {0, target.rows, target.bytes, target.bytes};
  if (target.gapless()) target = {0, source.rows, source.bytes, source.bytes};
  if (source.rows == target.rows && source.bytes == target.bytes)
    return streams_.copy(Lane::exchange, {to, target.stride}, {from, source.stride}, source.bytes, source.rows);
  const std::int64_t all = source.size();
  for (std::int64_t done = 0, piece = 0; done < all; done += piece) {
    const std::int64_t in_target = done % target.bytes, in_source = done % source.bytes;
    piece = std::min(target.bytes - in_target, source.bytes - in_source);
    streams_.copy(Lane::exchange, {to + done / target.bytes * target.stride + in_target, piece},
                  {from + done / source.bytes * source.stride + in_source, piece}, piece, 1);
  }
}

char* PeerWrites::reach(const Invitation& to) {
  if (to.place.process == 0)
    throw Error(Status::communication, "exchange=peer: another rank could not share its GPU's memory");
  return static_cast<char*>(streams_.reach(to.place));
}

void PeerWrites::write(const DeviceBlock& from, const Invitation& to) {
  char* const there = reach(to);
  for (std::int64_t i = 0; i < from.count; ++i)
    copy_rows(there + i * to.distance, to.slice, from.array + i * from.distance + from.slice.at, from.slice);
}

// Says and hears where rows belong: got_, in the order of blocks.send.
void PeerWrites::invite(int slot, const DeviceBlocks& blocks) {
  while (static_cast<int>(slots_.size()) <= slot) slots_.emplace_back();
  Slot& now = slots_[static_cast<std::size_t>(slot)];
  now.to.clear(), now.from.clear(), now.rows.clear();
  for (const DeviceBlock& block : blocks.receive) {
    now.from.push_back(block.rank);
    now.rows.push_back(block.array + block.slice.at);
  }
  if (std::find_first_of(unread_.begin(), unread_.end(), now.rows.begin(), now.rows.end()) != unread_.end()) {
    streams_.wait(Lane::work);
    settle();
  }
  given_.clear();
  got_.assign(blocks.send.size(), {});
  for (const DeviceBlock& block : blocks.receive) given_.push_back(invitation(block));
  for (const DeviceBlock& block : blocks.send) now.to.push_back(block.rank);
  send_.clear(), receive_.clear();
  for (std::size_t i = 0; i < given_.size(); ++i) send_.push_back({now.from[i], &given_[i], sizeof(Invitation)});
  for (std::size_t i = 0; i < got_.size(); ++i) receive_.push_back({now.to[i], &got_[i], sizeof(Invitation)});
  ranks_.exchange(send_, receive_);
}

void PeerWrites::begin(int slot, const DeviceBlocks& blocks, int mark) {
  invite(slot, blocks);
  streams_.follow(Lane::exchange, Lane::work);
  for (std::size_t i = 0; i < got_.size(); ++i) local_.run([&] { write(blocks.send[i], got_[i]); });
  streams_.mark(mark, Lane::exchange);
}

void PeerWrites::begin(int slot, const DeviceBlocks& blocks, int mark, const Make& make, Lane lane) {
  invite(slot, blocks);
  local_.run([&] {
    std::vector<char*> there;
    for (const Invitation& one : got_) there.push_back(reach(one));
    make(there);
  });
  streams_.mark(mark, lane);
}

void PeerWrites::wait(int slot, int mark) {
  Slot& now = slots_[static_cast<std::size_t>(slot)];
  streams_.wait_for_mark(mark);
  heard_.resize(now.from.size());
  char said = local_.failed() ? 1 : 0;
  send_.clear(), receive_.clear();
  for (const int rank : now.to) send_.push_back({rank, &said, 1});
  for (std::size_t i = 0; i < heard_.size(); ++i) receive_.push_back({now.from[i], &heard_[i], 1});
  ranks_.exchange(send_, receive_);
  for (std::size_t i = 0; i < heard_.size(); ++i)
    if (heard_[i] != 0)
      local_.run([&] {
        throw Error(Status::communication, fmt::format("exchange=peer: rank {} could not write its part", now.from[i]));
      });
  unread_.insert(unread_.end(), now.rows.begin(), now.rows.end());
}

void PeerWrites::forget(bool ends) {
  if (ranks_.largest(ends ? 1 : 0) == 0) return;
  streams_.forget_shared();
  ranks_.together([] {});
}

}  // namespace fourtune::runtime::distributed
