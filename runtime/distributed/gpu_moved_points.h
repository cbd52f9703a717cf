// Nonuniform points in GPUs' memory that move once to the ranks whose slabs of the grid they reach, and their values
// that follow in every transform.
//
// A point goes to the rank of its first cell. Where its window reaches the slab of the next rank, that one gets a copy:
// so every rank computes the whole sums of its cells, and none are exchanged. Copies interpolate too, but what
// they find stays where it is.
//
// Points of a slab's parts (DeviceSlab) lie one part after the other where they arrive. By peer writes the values of
// one part follow while the one before is spread, or come back while the next is interpolated.
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
#include "runtime/slabs/device_slab.h"
#include "runtime/slabs/point_lists.h"

namespace fourtune::runtime::distributed {

class GpuMovedPoints {
 public:
  // slab: how many cells and parts; several of these by peer writes alone. All other arguments outlive this.
  GpuMovedPoints(const Communicator& ranks, const Problem& problem, const gpu::ProgramBackend& backend,
                 const DeviceSlab& slab, const RankDevice& device, const DeviceCopy& memory, RankExchange way);

  // How many of this rank's points begin at each cell of the last dimension. Their arrays are in the device's memory,
  // and stay until move(). Throws Error{invalid_point | out_of_memory}; does not communicate.
  std::vector<std::int64_t> locate(const generator::nufft::StageKernels& kernels, const PointSet& points,
                                   const std::array<generator::nufft::Map, 3>& maps);
  // Where points go by their cells. cleared: bytes of an array that follow() may set to 0, a multiple of 16.
  // Collective; throws the same Error on every rank.
  void plan(const std::vector<std::int64_t>& at_cells, const DeviceSlab& slab, std::int64_t cleared);
  // The points that came, in arrays that live until the next call or release(). By peer writes they come through
  // `landing`, which has arrived() places of a complex number and stays as it is while others know of it. Collective;
  // what fails on the device is kept in `local`.
  PointSet move(const PointSet& own, void* landing, LocalWork& local);
  void release();

  std::int64_t arrived() const { return arrivals_.items(); }
  // Of a part of this rank's slab.
  std::int64_t arrived_before(int part) const { return arrivals_.begin(part); }
  std::int64_t arrived(int part) const { return arrivals_.size(part); }
  // True where no point of this rank moves and none arrives: values stay in the caller's arrays.
  bool stays() const { return stays_; }
  // Values of one transform follow their points, part by part from the first one, and come back. `moved` has arrived()
  // places; before what comes back is written there, await() waits until nobody reads it. cleared: the array that
  // plan() was told of, or null; it is clear when the first part has followed.
  // Collective; nothing is allocated, and what fails on the device is kept in `local` or for rethrow().
  void follow(int part, void* own, void* moved, void* cleared);
  void await(void* moved);
  // What has been put on Lane::work completes a part; where there are several, this comes before come_back(), for each.
  void part_is_there(int part);
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
  std::int64_t bytes() const;

 private:
  std::int64_t item_bytes(bool complex) const { return (complex ? 2 : 1) * real_bytes(problem_.precision); }
  void fetch(int part, void* own);
  void place_arrivals();
  void make_returns();
  void list(const DeviceSlab& slab);
  // Destinations of points are numbered rank by rank: points of the first part, copies, and points of the other parts.
  // The first two travel together.
  int of_part(int part) const { return part == 0 ? 0 : part + 1; }
  std::size_t at(int rank, int kind) const { return static_cast<std::size_t>(rank * (parts_ + 1) + kind); }
  std::int64_t sent(int rank, int kind) const { return sent_[at(rank, kind) + 1] - sent_[at(rank, kind)]; }
  struct Parts {
    int begin = 0, end = 0;
  };
  std::vector<PointLists::Range> leaving(const Parts& parts) const;
  DeviceBlocks blocks(char* packed, char* arrived, std::int64_t item, const Parts& parts) const;
  // Items of this rank's points go to where their points are: to `arrived`, packed for the ranks' messages or, by peer
  // writes, straight into the other GPUs' memory.
  struct Sending {
    gpu::BoundLaunches& launches;
    bool complex;
    Parts parts;
  };
  void send(const Sending& what, void* items, char* arrived, const PointLists::Bytes& cleared = {});

  const Communicator& ranks_;
  Problem problem_;
  std::int64_t cells_;
  int parts_;
  RankExchange way_;
  DeviceStreams& streams_;
  const DeviceCopy& memory_;
  PointLists lists_;
  DeviceExchange exchange_;
  PeerArrays peers_;  // what comes back, by peer writes: each rank fetches its values from where they are
  std::int64_t own_ = 0, held_ = 0, cleared_ = 0;
  bool stays_ = true, fetches_ = false;
  std::vector<std::int64_t> sent_{0};          // first place of every destination in the list, and the end
  std::vector<std::int64_t> received_, come_;  // by destination here: where what came from a rank begins, and how many
  Split arrivals_;                             // into the parts of this rank's slab
  std::vector<std::vector<std::int64_t>> there_;  // by part and rank: where this rank's points begin there
  gpu::BoundLaunches sending_reals_, clearing_, unpacking_own_, unpacking_;  // clearing_: sends the first part, too
  std::vector<gpu::BoundLaunches> sending_, fetching_;                       // by part
  DeviceArray packed_;
  std::array<DeviceArray, 3> coordinates_;
};

}  // namespace fourtune::runtime::distributed
