#include "runtime/distributed/peer_arrays.h"

#include <fmt/format.h>

namespace fourtune::runtime::distributed {

using Lane = DeviceStreams::Lane;

template <class Word>
void PeerArrays::tell(Word own, std::vector<Word>& heard) {
  heard.assign(static_cast<std::size_t>(ranks_.size()), own);
  send_.clear(), receive_.clear();
  for (int rank = 0; rank < ranks_.size(); ++rank) {
    if (rank == ranks_.rank()) continue;
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
    std::vector<void*> all;
    for (int rank = 0; rank < ranks_.size(); ++rank) {
      const SharedPlace& there = places_[static_cast<std::size_t>(rank)];
      if (rank != ranks_.rank() && there.process == 0)
        throw Error(Status::communication, fmt::format("exchange=kernels: rank {} could not share its memory", rank));
      all.push_back(rank == ranks_.rank() ? own : streams_.reach(there));
    }
    all_ = std::move(all);
  });
}

void PeerArrays::meet() {
  local_.run([&] { streams_.wait(Lane::work); });
  tell(static_cast<char>(local_.failed() ? 1 : 0), failed_);
  for (int rank = 0; rank < ranks_.size(); ++rank)
    if (rank != ranks_.rank() && failed_[static_cast<std::size_t>(rank)] != 0)
      local_.run([&] {
        throw Error(Status::communication, fmt::format("exchange=kernels: rank {} could not store its part", rank));
      });
}

void PeerArrays::forget(bool ends) {
  if (ranks_.largest(ends ? 1 : 0) == 0) return;
  streams_.forget_shared();
  ranks_.together([] {});
}

}  // namespace fourtune::runtime::distributed
