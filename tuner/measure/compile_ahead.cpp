#include "tuner/measure/compile_ahead.h"

#include <algorithm>

namespace fourtune::tuner {

CompileAhead::CompileAhead(int threads, std::function<void(const std::string&)> work) : work_(std::move(work)) {
  for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { run(); });
}

CompileAhead::~CompileAhead() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  threads_.clear();  // joins
}

void CompileAhead::add(const std::vector<std::string>& plans) {
  {
    const std::lock_guard lock(mutex_);
    for (const std::string& plan : plans)
      if (entries_.emplace(plan, Entry{}).second) queue_.push_back(plan);
  }
  changed_.notify_all();
}

void CompileAhead::finish(const std::string& plan) {
  std::unique_lock lock(mutex_);
  const auto found = entries_.find(plan);
  if (found == entries_.end()) return;
  Entry& entry = found->second;
  if (entry.state == State::queued) {
    std::erase(queue_, plan);
    entry.state = State::done;
    return;
  }
  changed_.wait(lock, [&] { return entry.state == State::done; });
  if (entry.error) std::rethrow_exception(entry.error);
}

void CompileAhead::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stop_ || !queue_.empty(); });
    if (stop_) return;
    const std::string plan = queue_.front();
    queue_.pop_front();
    Entry& entry = entries_.at(plan);  // entries are never removed, so the reference stays valid
    entry.state = State::busy;
    lock.unlock();
    std::exception_ptr error;
    try {
      work_(plan);
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    entry.error = error;
    entry.state = State::done;
    changed_.notify_all();
  }
}

}  // namespace fourtune::tuner
