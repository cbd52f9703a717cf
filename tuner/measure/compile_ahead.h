// Compiles the plans that come next while the present one is measured.
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace fourtune::tuner {

// Threads: one caller.
class CompileAhead {
 public:
  // work(plan) compiles one plan and may throw; called on `threads` threads of this object's own.
  CompileAhead(int threads, std::function<void(const std::string&)> work);
  CompileAhead(const CompileAhead&) = delete;
  CompileAhead& operator=(const CompileAhead&) = delete;
  // Waits for what is being compiled; what was not begun is dropped.
  ~CompileAhead();

  // Each plan once, in this order.
  void add(const std::vector<std::string>& plans);
  // Until this plan is done, and throws what its work threw. At once when it was not added, or not begun (the caller
  // then compiles it).
  void finish(const std::string& plan);

 private:
  enum class State { queued, busy, done };
  struct Entry {
    State state = State::queued;
    std::exception_ptr error;
  };
  void run();

  std::function<void(const std::string&)> work_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::string> queue_;
  std::map<std::string, Entry> entries_;
  bool stop_ = false;
  std::vector<std::jthread> threads_;
};

}  // namespace fourtune::tuner
