#include "base/fork_safe_mutex.h"

#include <pthread.h>

#include <atomic>
#include <new>

namespace fourtune {

struct ForkSafeMutexes {
  static inline std::atomic<ForkSafeMutex*> first{nullptr};
  static inline ForkSafeMutex* held = nullptr;  // the first one that fork() locked

  static void before() {
    held = first.load(std::memory_order_acquire);
    for (ForkSafeMutex* m = held; m; m = m->next_) m->lock();
  }
  static void after_in_parent() {
    for (ForkSafeMutex* m = held; m; m = m->next_) m->unlock();
  }
  // The owner has another thread id in the child, so the child must not unlock; it creates the mutex again instead.
  static void after_in_child() {
    for (ForkSafeMutex* m = held; m; m = m->next_) new (&m->mutex_) std::recursive_mutex;
  }
  static void add(ForkSafeMutex& mutex) {
    mutex.next_ = first.load(std::memory_order_relaxed);
    while (!first.compare_exchange_weak(mutex.next_, &mutex, std::memory_order_release)) {
    }
  }
};

namespace {
[[maybe_unused]] const int registered =
    pthread_atfork(&ForkSafeMutexes::before, &ForkSafeMutexes::after_in_parent, &ForkSafeMutexes::after_in_child);
}

ForkSafeMutex::ForkSafeMutex() { ForkSafeMutexes::add(*this); }

}  // namespace fourtune
