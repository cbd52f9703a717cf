// A mutex that no forked child finds locked by a thread that does not exist there.
#pragma once

#include <mutex>

namespace fourtune {

// Recursive. fork() waits until no other thread holds any of these mutexes, and the child finds all of them free.
// Objects live as long as the process (static, never destroyed), and no thread locks one while it holds another.
class ForkSafeMutex {
 public:
  ForkSafeMutex();
  ForkSafeMutex(const ForkSafeMutex&) = delete;
  ForkSafeMutex& operator=(const ForkSafeMutex&) = delete;
  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }

 private:
  friend struct ForkSafeMutexes;
  std::recursive_mutex mutex_;
  ForkSafeMutex* next_ = nullptr;
};

}  // namespace fourtune
