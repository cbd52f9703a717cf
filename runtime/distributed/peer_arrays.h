// One array on every rank, all of equal size, that the kernels of all ranks read and write (Exchange::kernels): each
// rank's GPU sees the memory of the others.
//
//   open    says where this rank's array is, and that nothing there is needed any more; hears the same
//   meet    all that kernels of all ranks have put on Lane::work is done
//
// The words pass by MPI between the hosts.
#pragma once

#include <cstdint>
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
  PeerArrays(const Communicator& ranks, DeviceStreams& streams) : ranks_(ranks), streams_(streams) {}
  // Collective, as meet() and forget(). Nothing of this rank uses the array.
  void open(void* own);
  // By rank, this one's among them; empty where one of them cannot be reached.
  std::span<void* const> all() const { return all_; }
  void meet();
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
  std::vector<void*> all_;
  std::vector<SharedPlace> places_;
  std::vector<char> failed_;
  std::vector<Message> send_, receive_;  // kept for their memory
};

}  // namespace fourtune::runtime::distributed
