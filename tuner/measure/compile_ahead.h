// Compiles the plans that come next while the present one is being measured.
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

// Must be used by one thread only.
class CompileAhead {
 public:
  // work(plan) compiles one plan and may throw. It is called on `threads` threads that this object owns.
  CompileAhead(int threads, std::function<void(const std::string&)> work);
  CompileAhead(const CompileAhead&) = delete;
  CompileAhead& operator=(const CompileAhead&) = delete;
  // Waits for the compilations in progress and drops those that have not begun.
  ~CompileAhead();

  // Queues each plan once, in this order.
  void add(const std::vector<std::string>& plans);
  // Waits until this plan is compiled and rethrows what its work threw. Returns at once when the plan was not added or
  // its compilation has not begun (the caller then compiles it).
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
