// Where the wall time of a tuning session goes. Whoever works on one thread notes after each part of its work which
// task that part was; so the parts add up to the time that has passed.
//
//   task       the time of
//   list       listing the candidates of a problem and recalling earlier sessions
//   points     making points and input data, and moving them to the device
//   reference  direct sums, which results are checked against
//   search     choosing what to measure next
//   wait       waiting for kernels that are being compiled ahead
//   bind       making text, compiling what was not compiled ahead, loading kernels, allocating
//   sort       set_points
//   check      comparing a result with the reference
//   measure    taking samples
//   store      writing rows of the database
//   worker     starting workers, replacing lost ones, and messages to them
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <string_view>

namespace fourtune::tuner {

enum class Task { list, points, reference, search, wait, bind, sort, check, measure, store, worker };
inline constexpr std::size_t task_count = 11;
inline constexpr std::array<std::string_view, task_count> task_names{
    "list", "points", "reference", "search", "wait", "bind", "sort", "check", "measure", "store", "worker"};

// Seconds per task.
struct Spent {
  std::array<double, task_count> seconds{};

  double& operator[](Task task) { return seconds[static_cast<std::size_t>(task)]; }
  double operator[](Task task) const { return seconds[static_cast<std::size_t>(task)]; }
  double total() const {
    double sum = 0;
    for (const double part : seconds) sum += part;
    return sum;
  }
  Spent& operator+=(const Spent& other) {
    for (std::size_t i = 0; i < task_count; ++i) seconds[i] += other.seconds[i];
    return *this;
  }
};

// Attributes the time that passes. Use from one thread.
class TaskClock {
 public:
  // The time since the last call of a function of this object, or since it was made, was this task.
  void lap(Task task) { spent_[task] += since_last(); }
  // That time was these parts, which another clock noted, and for the rest this task.
  void lap(const Spent& parts, Task rest) {
    const double passed = since_last(), known = parts.total();
    spent_ += parts;
    if (passed > known) spent_[rest] += passed - known;
  }
  const Spent& spent() const { return spent_; }
  // Until when time was noted.
  std::chrono::steady_clock::time_point noted_until() const { return last_; }
  // Returns what was noted, and starts from nothing.
  Spent take() {
    const Spent noted = spent_;
    spent_ = {};
    return noted;
  }

 private:
  using Clock = std::chrono::steady_clock;
  double since_last() {
    const Clock::time_point before = last_;
    last_ = Clock::now();
    return std::chrono::duration<double>(last_ - before).count();
  }
  Clock::time_point last_ = Clock::now();
  Spent spent_;
};

}  // namespace fourtune::tuner
