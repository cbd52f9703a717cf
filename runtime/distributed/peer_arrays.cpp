#include "runtime/distributed/peer_arrays.h"

#include <fmt/format.h>

namespace fourtune::runtime::distributed {

using Lane = DeviceStreams::Lane;

PeerArrays::PeerArrays(const Communicator& ranks, DeviceStreams& streams) : ranks_(ranks), streams_(streams) {
  for (int rank = 0; rank < ranks.size(); ++rank)
    if (rank != ranks.rank()) others_.push_back(rank);
}

template <class Word>
void PeerArrays::tell(Word own, std::vector<Word>& heard) {
  heard.assign(static_cast<std::size_t>(ranks_.size()), own);
  send_.clear(), receive_.clear();
  for (const int rank : others_) {
    send_.push_back({rank, &own, sizeof own});
    receive_.push_back({rank, &heard[static_cast<std::size_t>(rank)], sizeof own});
  }
  ranks_.exchange(send_, receive_);
}

void PeerArrays::open(void* own) {
  SharedPlace place;
  local_.run([&] { place = streams_.share(own); });
  tell(place, places_);
  all_.clear();
  local_.run([&] {
    std::vector<void*> all(static_cast<std::size_t>(ranks_.size()));
    all[static_cast<std::size_t>(ranks_.rank())] = own;
    for (const int rank : others_) {
      const SharedPlace& there = places_[static_cast<std::size_t>(rank)];
      if (there.process == 0)
        throw Error(Status::communication, fmt::format("rank {} could not share its GPU's memory", rank));
      all[static_cast<std::size_t>(rank)] = streams_.reach(there);
    }
    all_ = std::move(all);
  });
}

void PeerArrays::meet(std::optional<int> mark) {
  local_.run([&] { mark ? streams_.wait_for_mark(*mark) : streams_.wait(Lane::work); });
  tell(static_cast<char>(local_.failed() ? 1 : 0), failed_);
  for (const int rank : others_)
    if (failed_[static_cast<std::size_t>(rank)] != 0)
      local_.run([&] {
        throw Error(Status::communication, fmt::format("kernels of rank {} failed, whose GPU this one reads", rank));
      });
}

void PeerArrays::forget(bool ends) {
  if (ranks_.largest(ends ? 1 : 0) == 0) return;
  streams_.forget_shared();
  ranks_.together([] {});
}

}  // namespace fourtune::runtime::distributed
