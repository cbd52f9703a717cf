// Asynchronous copies under way and the mbarriers that count them. Knows nothing of fibers.
//
// The target of a copy is 0xff bytes (NaN) from its issue until it lands, and the source is read when it lands: both
// must be left alone meanwhile.
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
  void* barrier = nullptr;   // null: belongs to a group of its thread
  std::uint32_t thread = 0;  // that issued it
  std::uint32_t group = 0;   // of the thread; the one not yet committed is the newest
  int line = 0;
  bool landed = false;
};

class AsyncCopies {
 public:
  // Called when a copy has landed and its waiters may see it.
  std::function<void(const Copy&)> on_finish;
  std::function<void(void* barrier)> on_phase;

  void begin(std::uint32_t threads);  // of a cluster
  void issue(const Copy& copy);
  void commit(std::uint32_t thread) { ++groups_[thread]; }
  // Lands all but the newest `left` committed groups of the thread.
  void wait(std::uint32_t thread, int left);
  // Lands each copy with this probability, by the numbers in [0, 1) that `draw` gives.
  void land_some(double probability, const std::function<double()>& draw);
  // Lands what barriers wait for; false when there was nothing.
  bool land_for_barriers();
  const Copy* first_of(std::uint32_t thread) const;  // a group copy never waited for, or null
  const Copy* any() const { return copies_.empty() ? nullptr : &copies_.front(); }

  // mbarriers; false: it was never initialised, or has more arrivals than it counts.
  void init(void* barrier, int count);
  bool arrive(void* barrier, std::int64_t expected_bytes);
  bool known(void* barrier) const { return barriers_.count(barrier) != 0; }
  // The phase of this parity is complete.
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
  std::vector<std::uint32_t> groups_;  // number of the group not yet committed
  std::map<void*, Barrier> barriers_;
};

}  // namespace fourtune::runtime::emulated
