// Messages that a rank writes straight into the memory of another rank's GPU (RankExchange::peer), where both are on
// one machine: no kernel packs them and nothing is stored twice.
//
//   begin   a rank tells those that write here where the rows belong, and so that they may be overwritten (Invitation);
//           it copies to those that told it so
//   wait    when its copies are done it says so to those whose memory they are in, and hears the same; or that they
//           failed
//
// The words pass by MPI between the hosts; the copies run on a lane. Kernels may write in their place.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "runtime/backends/device_streams.h"
#include "runtime/distributed/communicator.h"
#include "runtime/distributed/device_blocks.h"
#include "runtime/distributed/rank_executor.h"

namespace fourtune::runtime::distributed {

class PeerWrites {
 public:
  // Both outlive this.
  PeerWrites(const Communicator& ranks, DeviceStreams& streams) : ranks_(ranks), streams_(streams) {}
  // Collective, as all below but settle() and rethrow(). Copies follow all work on Lane::work, and are marked there by
  // `mark`.
  void begin(int slot, const DeviceBlocks& blocks, int mark);
  // The same for messages without gaps that `make` writes, in the order of blocks.send, by work that it puts on a lane;
  // their arrays do not count. It is not called where one of them cannot be reached.
  using Make = std::function<void(std::span<char* const> there)>;
  void begin(int slot, const DeviceBlocks& blocks, int mark, const Make& make,
             DeviceStreams::Lane lane = DeviceStreams::Lane::work);
  // The messages of the slot have arrived.
  void wait(int slot, int mark);
  // All work on Lane::work is done, so nothing that has arrived is still to be read. Without this, begin() waits for
  // that.
  void settle() { unread_.clear(); }
  // To be called before arrays end that others may have written to: lets go of all of them where one rank's `ends`.
  void forget(bool ends = true);
  // Throws what has failed since the last time, here or on a rank that writes here; all above go on after a failure, so
  // that other ranks need not wait.
  void rethrow() { std::exchange(local_, {}).rethrow(); }

 private:
  // Where the rows of a message are to go.
  struct Invitation {
    SharedPlace place;  // of the first row; process 0: it could not be told
    Slice slice;
    std::int64_t count = 0, distance = 0;
  };
  struct Slot {
    std::vector<int> to, from;      // ranks
    std::vector<const char*> rows;  // that others write
  };
  Invitation invitation(const DeviceBlock& block);
  void invite(int slot, const DeviceBlocks& blocks);
  char* reach(const Invitation& to);
  void write(const DeviceBlock& from, const Invitation& to);
  void copy_rows(char* to, Slice target, char* from, Slice source);

  const Communicator& ranks_;
  DeviceStreams& streams_;
  LocalWork local_;
  std::vector<Slot> slots_;
  std::vector<const char*> unread_;  // rows that have arrived and may still be read on Lane::work
  std::vector<Invitation> given_, got_;
  std::vector<char> heard_;
  std::vector<Message> send_, receive_;  // kept for their memory
};

}  // namespace fourtune::runtime::distributed
