// Waits for another thread of the library: first awake for a moment, in case it answers soon, then asleep. On a shared
// machine, a thread that spins or yields for longer keeps its processor from the thread it waits for.
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
  // Waits a moment; returns false when it is time to sleep.
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
// Sleeps while the word has this value; returns after wake_one, or spuriously.
void sleep_while(const WaitWord& word, std::int32_t value);
void wake_one(const WaitWord& word);
void wake_all(const WaitWord& word);

// A gate stays closed until a thread opens it; many threads may wait.
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

// A mutex that takes four bytes.
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
    // A thread that has slept takes the lock as awaited, because others may be asleep too.
    while (state_.exchange(kAwaited, std::memory_order_acquire) != kFree) sleep_while(state_, kAwaited);
  }
  WaitWord state_{kFree};
};

}  // namespace fourtune::runtime::cpu
