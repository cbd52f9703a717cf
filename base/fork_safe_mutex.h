// A lock that no forked child finds held by a thread that it has not.
#pragma once

#include <mutex>

namespace fourtune {

// Recursive. fork() waits until no other thread holds any, and the child finds all of them free. Objects live as long
// as the process (static, never destroyed), and no thread takes one while it holds another.
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
