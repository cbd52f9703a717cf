// Moves rows of arrays in GPUs' memory between ranks, in the way that a plan says (RankExchange of rank_plan.h).
//
// Rows with gaps between them are packed on the device into one message, and unpacked there; others travel as they are.
// By NCCL nothing waits on the host. By MPI a chunk's messages are posted when the next one begins or somebody waits
// for it, so that the device packs one chunk while it works on the next. By peer writes nothing is packed
// (peer_writes.h).
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "runtime/backends/device_copy.h"
#include "runtime/backends/device_streams.h"
#include "runtime/distributed/communicator.h"
#include "runtime/distributed/device_blocks.h"
#include "runtime/distributed/nccl.h"
#include "runtime/distributed/peer_writes.h"
#include "runtime/distributed/rank_plan.h"

namespace fourtune::runtime::distributed {

class DeviceExchange {
 public:
  // nccl: of the same ranks; null unless way is RankExchange::nccl. first_mark: of the streams' marks, of which each
  // slot takes two; exchanges that are under way at a time have different ones. All arguments outlive this.
  DeviceExchange(const Communicator& ranks, DeviceStreams& streams, const DeviceCopy& memory, RankExchange way,
                 const NcclRanks* nccl, int first_mark = 0);
  ~DeviceExchange();
  DeviceExchange(const DeviceExchange&) = delete;
  DeviceExchange& operator=(const DeviceExchange&) = delete;

  // Memory for chunks like this one in this slot. Throws Error{out_of_memory}; does not communicate.
  void reserve(int slot, const DeviceBlocks& blocks);
  // Collective, all ranks in the same order. Follows all work on Lane::work. The arrays stay as they are until wait().
  void begin(int slot, const DeviceBlocks& blocks);
  // The same for messages without gaps that `make` writes, in their order, by work that it puts on Lane::work: into
  // their arrays or, by peer writes and on any lane, straight to where they belong. What it throws is kept for
  // rethrow().
  void begin(int slot, const DeviceBlocks& blocks, const PeerWrites::Make& make,
             DeviceStreams::Lane lane = DeviceStreams::Lane::work);
  // Lets a chunk proceed.
  void poll(int slot);
  // Work that is put on Lane::work from now on finds the chunk moved.
  void wait(int slot);
  // By peer writes: see there.
  void settle() { peers_.settle(); }
  void forget(bool ends = true) {
    if (way_ == RankExchange::peer) peers_.forget(ends);
  }
  void rethrow() {
    std::exchange(made_, {}).rethrow();
    peers_.rethrow();
  }
  std::int64_t bytes() const;

 private:
  // Host memory that the device reads and writes by itself.
  struct HostArray {
    void* data = nullptr;
    std::int64_t bytes = 0;
  };
  // Messages of one direction, and the memory for those that are packed or staged.
  struct Side {
    struct Message {
      DeviceBlock block;
      char* packed = nullptr;  // in the device's memory; the array itself where nothing has to be packed
      char* staged = nullptr;  // in the host's
    };
    std::vector<Message> messages;
    DeviceArray packed;
    HostArray staged;
    std::int64_t packed_bytes = 0;  // that there is memory for
  };
  struct Slot {
    Side send, receive;
    Transfer transfer;
  };
  void reserve(Side& side, const std::vector<DeviceBlock>& blocks);
  void lay(Side& side, const std::vector<DeviceBlock>& blocks);
  static bool packs(const DeviceBlock& block) { return !block.gapless(); }
  void copy(const DeviceBlock& to, const DeviceBlock& from);
  void pack(const Side& side);
  void unpack(const Side& side);
  void stage(const Side& side, DeviceStreams::Lane lane, bool to_host);
  void post();
  // Marks of a slot: its packed messages and what stays on this rank; its messages.
  int copied(int slot) const { return first_mark_ + 2 * slot; }
  int moved(int slot) const { return first_mark_ + 2 * slot + 1; }

  const Communicator& ranks_;
  DeviceStreams& streams_;
  const DeviceCopy& memory_;
  RankExchange way_;
  const NcclRanks* nccl_;
  int first_mark_;
  PeerWrites peers_;
  LocalWork made_;
  std::vector<Slot> slots_;
  int unposted_ = -1;  // the slot whose messages MPI has not been given
  std::vector<DeviceMessage> send_, receive_;
  std::vector<Message> mpi_send_, mpi_receive_;
  std::map<std::int64_t, DataType> rows_;  // by their bytes, as a message may have more bytes than MPI counts
};

}  // namespace fourtune::runtime::distributed
