// Asynchronous copies in progress and the mbarriers that count them. This class knows nothing of fibers.
//
// From the issue of a copy until it lands, its target holds 0xff bytes (NaN). The source is read when the copy lands.
// Kernels must not touch the target or change the source meanwhile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

namespace fourtune::runtime::emulated {

struct Copy {
  void* target = nullptr;
  const void* source = nullptr;
  std::size_t bytes = 0;
  void* barrier = nullptr;   // null: belongs to a group of the issuing thread
  std::uint32_t thread = 0;  // the thread that issued it
  std::uint32_t group = 0;   // the thread's group; the one not yet committed is the newest
  int line = 0;
  bool landed = false;
};

class AsyncCopies {
 public:
  // Called when a copy has landed and its waiters may see it.
  std::function<void(const Copy&)> on_finish;
  std::function<void(void* barrier)> on_phase;

  void begin(std::uint32_t threads);  // number of threads in the cluster
  void issue(const Copy& copy);
  void commit(std::uint32_t thread) { ++groups_[thread]; }
  // Lands all committed groups of the thread except the newest `left`.
  void wait(std::uint32_t thread, int left);
  // Lands each copy with this probability, using the numbers in [0, 1) that `draw` returns.
  void land_some(double probability, const std::function<double()>& draw);
  // Lands the copies that barriers wait for; returns false when there were none.
  bool land_for_barriers();
  const Copy* first_of(std::uint32_t thread) const;  // a group copy that was never waited for, or null
  const Copy* any() const { return copies_.empty() ? nullptr : &copies_.front(); }

  // mbarriers. False: the barrier was never initialised, or has more arrivals than it counts.
  void init(void* barrier, int count);
  bool arrive(void* barrier, std::int64_t expected_bytes);
  bool known(void* barrier) const { return barriers_.count(barrier) != 0; }
  // True when the phase with this parity is complete.
  bool complete(void* barrier, int parity) const;

 private:
  struct Barrier {
    int count = 0, pending = 0;
    std::int64_t bytes = 0;  // still expected in this phase
    std::uint32_t phase = 0;
  };
  void land(Copy& copy);
  void finish(const Copy& copy);
  void advance(void* at, Barrier& barrier);
  std::vector<Copy> copies_;
  std::vector<std::uint32_t> groups_;  // per thread, the number of the group not yet committed
  std::map<void*, Barrier> barriers_;
};

}  // namespace fourtune::runtime::emulated
