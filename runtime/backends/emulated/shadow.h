// Records which threads last accessed each word of memory, to find races and uninitialised reads and to check exact
// bounds in instrumented kernels.
//
// Every 4-byte word has a cell with the last write and the last one or two reads, each stamped with block, thread, the
// block's barrier interval, and the thread's clock. An earlier access is ordered before the present one when
//   1. it belongs to an earlier launch or to the same thread, or
//   2. it belongs to the same block and an earlier barrier interval, or to a block of the cluster and precedes the last
//      cluster barrier, or
//   3. the present thread knows the clock of the other one: warp synchronisation and mbarriers pass on this knowledge
//      (vector clocks; C. Flanagan and S. Freund, FastTrack, PLDI 2009).
// A race is two unordered accesses to one word by different threads, at least one a write and not both atomic.
// Accesses narrower than a word count as the whole word for initialisation and are not checked for races.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "runtime/backends/emulated/guarded_memory.h"
#include "runtime/backends/emulated/kernel_fault.h"

namespace fourtune::runtime::emulated {

enum class AccessKind : std::uint8_t { read, write, atomic };

// The other side of a race, or the error in one access.
struct AccessTrouble {
  FaultKind kind{};
  const GuardedMemory* memory = nullptr;  // null: not near any buffer
  bool other_known = false;
  std::uint32_t other_block = 0;   // serial number of the block
  std::uint32_t other_thread = 0;  // index in its block
  AccessKind other_kind{};
  const void* other_where = nullptr;
};

class Shadow {
 public:
  // Device memory of the program; it must not move. initialised: the host wrote it.
  void attach(const GuardedMemory& buffer, bool initialised);
  void begin_launch(std::uint32_t first_serial) {
    ahead_first_ = launch_first_;
    launch_first_ = first_serial;
  }
  // Blocks with consecutive serial numbers that run at the same time; serial numbers never repeat within a program.
  void begin_cluster(std::uint32_t first_serial, std::uint32_t blocks, std::uint32_t threads,
                     const std::vector<GuardedMemory>& shared);

  // thread: index in the cluster. `where` is an address in the module, `base` the module's start.
  std::optional<AccessTrouble> access(std::uint32_t thread, const void* address, std::size_t bytes, AccessKind kind,
                                      const void* where, const void* base);
  // Whether an access has to come after the end of the launch ahead: every write does, and reads of what that one
  // wrote.
  bool belongs_behind_earlier(const void* address, std::size_t bytes, AccessKind kind) const;
  bool knows(const void* address) const { return find(address) != nullptr; }

  void block_barrier(std::uint32_t rank) { ++interval_[rank]; }
  void cluster_barrier();
  // The lanes of one warp, as thread indices in the cluster.
  void warp_sync(const std::vector<std::uint32_t>& lanes);
  void arrive(std::uint32_t thread, const void* barrier);
  void complete_phase(const void* barrier);  // arrivals become what a wait learns
  void wait(std::uint32_t thread, const void* barrier);

  // The target of an asynchronous copy: no thread may touch it between issue and finish. After finish, `thread` may
  // read it or, with a barrier, every thread that waits on the barrier's present phase.
  std::optional<AccessTrouble> issue_copy(std::uint32_t thread, void* target, std::size_t bytes, const void* base);
  void finish_copy(std::uint32_t thread, void* target, std::size_t bytes, const void* barrier);

 private:
  struct Stamp {
    std::uint32_t block = 0;  // serial number; 0: never
    std::uint32_t interval = 0;
    std::uint32_t clock = 0;
    std::uint32_t where = 0;  // offset in the module
    std::uint16_t thread = 0;
    AccessKind kind{};
    bool pending = false;  // an asynchronous copy is under way
  };
  struct Cell {
    Stamp write, read, other_read;
  };
  struct Region {
    const GuardedMemory* memory = nullptr;
    bool initialised = false;
    bool shared = false;  // its contents are forgotten at each new cluster
    std::vector<Cell> cells;
  };
  Region* find(const void* address) const;
  bool ordered(const Region& region, const Stamp& stamp, std::uint32_t thread) const;
  std::uint32_t& known(std::uint32_t thread, std::uint32_t of) { return known_[thread * threads_total_ + of]; }
  std::uint32_t known(std::uint32_t thread, std::uint32_t of) const { return known_[thread * threads_total_ + of]; }
  void learn(std::vector<std::uint32_t>& into, std::uint32_t thread) const;
  Stamp stamp_of(std::uint32_t thread, AccessKind kind, const void* where, const void* base) const;
  AccessTrouble race(const Region& region, const Stamp& other, const void* base) const;

  std::vector<Region> regions_;
  std::size_t buffers_ = 0;  // number of regions before the shared ones
  mutable std::size_t last_ = 0;
  std::uint32_t ahead_first_ = 1;  // of the launch ahead
  std::uint32_t launch_first_ = 1, cluster_first_ = 1, blocks_ = 1, threads_ = 1, threads_total_ = 1;
  std::vector<std::uint32_t> interval_;  // for each block of the cluster
  std::vector<std::uint32_t> joined_;    // interval at the last cluster barrier
  std::vector<std::uint32_t> clock_;     // for each thread of the cluster, never reset
  std::vector<std::uint32_t> known_;     // the clocks of other threads that each thread knows
  struct Phases {
    std::vector<std::uint32_t> gathering, complete;
  };
  std::map<const void*, Phases> barriers_;
};

}  // namespace fourtune::runtime::emulated
