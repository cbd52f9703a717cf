// Waiting for another thread of the library: a moment awake, in case it is about to answer, then asleep. A thread that
// spins or yields for longer keeps its processor from the one it waits for when the machine is shared.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace fourtune::runtime::cpu {

// How long a wait stays awake. The last units of a loop end some tens of microseconds apart, and waking a sleeper takes
// as long in a virtual machine.
inline constexpr std::chrono::microseconds kAwake{50};

class Patience {
 public:
  // Passes a moment; false when it is time to sleep.
  bool left() {
    for (int i = 0; i < 8; ++i) relax();
    const auto now = std::chrono::steady_clock::now();
    if (end_ == std::chrono::steady_clock::time_point()) end_ = now + kAwake;
    return now < end_;
  }

 private:
  static void relax() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
  }
  std::chrono::steady_clock::time_point end_;
};

using WaitWord = std::atomic<std::int32_t>;
// Sleeps while the word has this value; returns after wake, or for no reason.
void sleep_while(const WaitWord& word, std::int32_t value);
void wake_one(const WaitWord& word);
void wake_all(const WaitWord& word);

// Closed until somebody opens it; many may wait.
class Gate {
 public:
  void close() { state_.store(kClosed, std::memory_order_relaxed); }
  void open() {
    if (state_.exchange(kOpen, std::memory_order_acq_rel) == kAwaited) wake_all(state_);
  }
  void wait() {
    Patience patience;
    for (;;) {
      std::int32_t state = state_.load(std::memory_order_acquire);
      if (state == kOpen) return;
      if (patience.left()) continue;
      if (state == kAwaited || state_.compare_exchange_strong(state, kAwaited, std::memory_order_acquire))
        sleep_while(state_, kAwaited);
    }
  }

 private:
  static constexpr std::int32_t kClosed = 0, kAwaited = 1, kOpen = 2;
  WaitWord state_{kClosed};
};

// A mutex of four bytes.
class SmallLock {
 public:
  void lock() {
    std::int32_t free = kFree;
    if (!state_.compare_exchange_strong(free, kHeld, std::memory_order_acquire)) wait();
  }
  void unlock() {
    if (state_.exchange(kFree, std::memory_order_release) == kAwaited) wake_one(state_);
  }

 private:
  static constexpr std::int32_t kFree = 0, kHeld = 1, kAwaited = 2;
  void wait() {
    Patience patience;
    while (patience.left()) {
      std::int32_t free = kFree;
      if (state_.load(std::memory_order_relaxed) == kFree &&
          state_.compare_exchange_strong(free, kHeld, std::memory_order_acquire))
        return;
    }
    // Whoever has slept takes the lock as awaited: others may be asleep too.
    while (state_.exchange(kAwaited, std::memory_order_acquire) != kFree) sleep_while(state_, kAwaited);
  }
  WaitWord state_{kFree};
};

}  // namespace fourtune::runtime::cpu
