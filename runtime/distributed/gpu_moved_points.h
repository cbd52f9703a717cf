// Nonuniform points in GPUs' memory that move once to the ranks whose slabs of the grid they reach, and their values
// that follow in every transform.
//
// A point goes to the rank of its first cell. Where its window reaches the slab of the next rank, that one gets a copy:
// so every rank computes the whole sums of its cells, and none are exchanged. Copies interpolate too, but what
// they find stays where it is.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "runtime/backends/device_copy.h"
#include "runtime/backends/gpu/program_backend.h"
#include "runtime/distributed/communicator.h"
#include "runtime/distributed/device_exchange.h"
#include "runtime/distributed/peer_arrays.h"
#include "runtime/distributed/rank_executor.h"
#include "runtime/slabs/point_lists.h"

namespace fourtune::runtime::distributed {

class GpuMovedPoints {
 public:
  // kernels: of the whole grid. All arguments outlive this.
  GpuMovedPoints(const Communicator& ranks, const Problem& problem, const gpu::ProgramBackend& backend,
                 std::int64_t cells, const RankDevice& device, const DeviceCopy& memory, RankExchange way);

  // How many of this rank's points begin at each cell of the last dimension. Their arrays are in the device's memory,
  // and stay until move(). Throws Error{invalid_point | out_of_memory}; does not communicate.
  std::vector<std::int64_t> locate(const generator::nufft::StageKernels& kernels, const PointSet& points,
                                   const std::array<generator::nufft::Map, 3>& maps);
  // owners[c], neighbours[c]: the ranks that points of cell c go to; -1: no neighbour. cleared: bytes of an array that
  // follow() may set to 0, a multiple of 16. Collective; throws the same Error on every rank.
  void plan(const std::vector<std::int64_t>& at_cells, const std::vector<std::int32_t>& owners,
            const std::vector<std::int32_t>& neighbours, std::int64_t cleared);
  // The points that came, in arrays that live until the next call or release(). By peer writes they come through
  // `landing`, which has arrived() places of a complex number and stays as it is while others know of it. Collective;
  // what fails on the device is kept in `local`.
  PointSet move(const PointSet& own, void* landing, LocalWork& local);
  void release();

  std::int64_t arrived() const { return received_.back(); }
  // True where no point of this rank moves and none arrives: values stay in the caller's arrays.
  bool stays() const { return stays_; }
  // Values of one transform follow their points, and come back. `moved` has arrived() places; before what comes back is
  // written there, await() waits until nobody reads it. cleared: the array that plan() was told of, or null.
  // Collective; nothing is allocated, and what fails on the device is kept in `local` or for rethrow().
  void follow(void* own, void* moved, void* cleared);
  void await(void* moved);
  void come_back(void* moved, void* own, LocalWork& local);
  // As those of DeviceExchange.
  void forget(bool ends = true) { exchange_.forget(ends); }
  void settle() {
    exchange_.settle();
    fetches_ = false;
  }
  void rethrow() {
    exchange_.rethrow();
    peers_.rethrow();
  }
  std::int64_t bytes() const { return lists_.held() + exchange_.bytes() + held_; }

 private:
  std::int64_t item_bytes(bool complex) const { return (complex ? 2 : 1) * real_bytes(problem_.precision); }
  void fetch(void* own);
  void list(const std::vector<std::int32_t>& owners, const std::vector<std::int32_t>& neighbours);
  DeviceBlocks blocks(char* packed, char* arrived, std::int64_t item, bool out) const;
  // Items of this rank's points go to where their points are: to `arrived`, packed for the ranks' messages or, by peer
  // writes, straight into the other GPUs' memory.
  void send(gpu::BoundLaunches& sending, void* items, char* arrived, bool complex,
            const PointLists::Bytes& cleared = {});

  const Communicator& ranks_;
  Problem problem_;
  std::int64_t cells_;
  RankExchange way_;
  DeviceStreams& streams_;
  const DeviceCopy& memory_;
  PointLists lists_;
  DeviceExchange exchange_;
  PeerArrays peers_;  // what comes back, by peer writes: each rank fetches its values from where they are
  std::int64_t own_ = 0, held_ = 0, cleared_ = 0;
  bool stays_ = true, fetches_ = false;
  // First place of every destination in the list, and the end; those that came from each rank likewise. Two for a rank:
  // points of its cells, and copies.
  std::vector<std::int64_t> sent_{0}, received_{0};
  std::vector<std::int64_t> there_;  // by rank: where this rank's points begin among those that arrived there
  gpu::BoundLaunches sending_reals_, sending_, clearing_, unpacking_own_, unpacking_,
      fetching_;  // clearing_: sends, too
  DeviceArray packed_;
  std::array<DeviceArray, 3> coordinates_;
};

}  // namespace fourtune::runtime::distributed
