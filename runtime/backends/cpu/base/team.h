// The library's thread pool (the team): one per process, shared by all its transforms.
//
// It replaces OpenMP, whose runtime ends the process when it cannot create a thread, hangs in a child after fork and
// wastes the time slices of other processes at its barriers.
//
// Invariants
// 1. A loop's caller works on it too, and finishes the loop alone when no thread is idle or can be created: the number
//    of threads affects nothing but speed. So loop bodies use no barriers, and whatever affects a result depends on the
//    plan's thread count or on the units, never on which thread processed them.
// 2. A worker serves one loop at a time. Workers that have not begun when the units run out are called off: a thread
//    that the system has not scheduled yet delays nobody.
// 3. Callers and workers inside loops number at most as many as the largest loop asked for: application threads that
//    execute at the same time share the workers, and get none when the callers alone reach that number.
// 4. A waiting thread stays awake for some microseconds (waiting.h), then sleeps. A worker leaves its caller's CPU.
// 5. A forked child starts a new team; unloading the library and exit() end idle workers.
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>

namespace fourtune::runtime::cpu {

// The most threads that a loop on `threads` can have, its caller included, and so the number of workspaces it needs. At
// least 1, at most `threads` and usable_threads().
int team_size(int threads);

// A reference to a loop's body: processes units first .. last-1 as worker number `worker`.
class LoopBody {
 public:
  template <class F>
  explicit LoopBody(F& f)
      : object_(const_cast<void*>(static_cast<const void*>(std::addressof(f)))),
        call_([](void* object, std::int64_t first, std::int64_t last, int worker) {
          (*static_cast<F*>(object))(first, last, worker);
        }) {}
  void operator()(std::int64_t first, std::int64_t last, int worker) const { call_(object_, first, last, worker); }

 private:
  void* object_;
  void (*call_)(void*, std::int64_t, std::int64_t, int);
};

enum class Handing {
  shares,     // every thread starts with a separate contiguous range of units, then helps the others
  ascending,  // in order: a unit begins after all units before it have begun
};

// Runs the body over [0, count) on up to `threads` threads; returns when every unit is done. Units are handed out
// `grain` or more at a time. worker < threads, and no two threads have the same number at the same time. The first
// exception thrown by a body ends the loop and is rethrown here. A call from inside a body runs on the calling thread
// alone, as worker 0.
void run_loop(int threads, std::int64_t count, std::int64_t grain, Handing handing, const LoopBody& body);

// Calls body(index) or body(index, worker) for every index < count.
template <class F>
void parallel_for(int threads, std::int64_t count, F body, std::int64_t grain = 1, Handing handing = Handing::shares) {
  const auto range = [&body](std::int64_t first, std::int64_t last, int worker) {
    for (std::int64_t i = first; i < last; ++i) {
      if constexpr (std::is_invocable_v<F, std::int64_t, int>) {
        body(i, worker);
      } else {
        body(i);
      }
    }
  };
  if (threads <= 1 || count <= grain) {
    range(0, count, 0);
  } else {
    run_loop(threads, count, grain, handing, LoopBody(range));
  }
}

// For tests: threads created so far by this process's team, and the errno with which creating one must fail (0: none).
int team_threads_made();
void fail_team_threads(int error);

}  // namespace fourtune::runtime::cpu
