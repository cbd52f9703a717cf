// The library's threads: one team for the whole process, shared by all its transforms.
//
// It stands in for OpenMP, whose runtime ends the process when it cannot make a thread, hangs in a child after fork and
// burns the time slices of others at its barriers.
//
// Invariants
// 1. A loop's caller works on it too, and ends the loop alone when no thread is idle or can be made: the number of
//    threads is never a condition for anything but speed. So bodies ask for no barriers, and what a result must not
//    depend on follows the plan's threads or the units, not who did them.
// 2. A worker serves one loop at a time. Those that have not begun when the units are used up are called off: a thread
//    that the system has not let run yet holds up nobody.
// 3. Callers and workers inside loops are together at most as many as the largest loop asked for: threads of an
//    application that execute at once share the workers, and get none when they are as many themselves.
// 4. Who waits stays awake for some microseconds (waiting.h), then sleeps. A worker leaves its caller's processor.
// 5. A forked child has a team of its own; unloading the library and exit() end idle workers.
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>

namespace fourtune::runtime::cpu {

// The workers that a loop on `threads` can have, its caller included: that many workspaces serve it. 1 up to threads,
// and no more than usable_threads().
int team_size(int threads);

// A loop's body, by reference: does units first .. last-1 as number `worker`.
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
  shares,     // everyone begins with units of their own, next to each other, then helps the others
  ascending,  // in order: a unit is begun after all before it have been
};

// Runs the body over [0, count) on up to `threads` threads; returns when every unit is done. Units are handed out
// `grain` or more at a time. worker < threads; no two threads have the same one at the same time. The first exception
// of a body ends the loop and comes out here. Inside a body it runs on the calling thread alone, as worker 0.
void run_loop(int threads, std::int64_t count, std::int64_t grain, Handing handing, const LoopBody& body);

// body(index) or body(index, worker) for index < count.
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

// For tests: threads made so far by this process's team, and the errno that making one is to fail with (0: none).
int team_threads_made();
void fail_team_threads(int error);

}  // namespace fourtune::runtime::cpu
