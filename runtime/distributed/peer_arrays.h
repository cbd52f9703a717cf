// An array on every rank that the kernels of others read or write (RankExchange::peer and kernels): each rank's GPU
// sees the memory of the others.
//
//   open    says where this rank's array is, and that nothing there is needed any more; hears the same
//   meet    all that kernels of all ranks have put on Lane::work is done, or up to a mark
//
// The words pass by MPI between the hosts.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "runtime/backends/device_streams.h"
#include "runtime/distributed/communicator.h"
#include "runtime/distributed/rank_executor.h"

namespace fourtune::runtime::distributed {

class PeerArrays {
 public:
  // Both outlive this.
  PeerArrays(const Communicator& ranks, DeviceStreams& streams);
  // Those that this rank shares arrays with, who share theirs with it; all others unless told.
  void with(std::vector<int> others) { others_ = std::move(others); }
  // Collective, as meet() and forget(). Nothing of this rank uses the array.
  void open(void* own);
  // By rank, this one's among them, and null for those that it shares none with; empty where one cannot be reached.
  std::span<void* const> all() const { return all_; }
  void meet(std::optional<int> mark = {});
  // As PeerWrites::forget.
  void forget(bool ends = true);
  // Throws what has failed since the last time, here or on another rank.
  void rethrow() { std::exchange(local_, {}).rethrow(); }

 private:
  // Sends a word to every other rank, and gets theirs.
  template <class Word>
  void tell(Word own, std::vector<Word>& heard);

  const Communicator& ranks_;
  DeviceStreams& streams_;
  LocalWork local_;
  std::vector<int> others_;
  std::vector<void*> all_;
  std::vector<SharedPlace> places_;
  std::vector<char> failed_;
  std::vector<Message> send_, receive_;  // kept for their memory
};

}  // namespace fourtune::runtime::distributed
