// FFTW planning in isolation: what a plan is made from depends only on the wisdom passed in, and the process's own FFTW
// wisdom comes back untouched.
//
// FFTW keeps one wisdom table per precision for the whole process, and even an ESTIMATE plan takes a MEASUREd entry
// when it finds one. A session therefore sets the table aside, imports only the text it was given, and restores the
// table at its end: a plan of rigor estimate is a plan of rigor estimate whatever ran before it, and an application
// that uses FFTW too keeps its wisdom and its thread count. FFTW's own rule remains: an application that plans with
// FFTW on another thread while a transform is being created must serialise the two itself.
//
// From the first plan with several threads on, FFTW's jobs run on our team (fftw_threads_set_callback), which knows how
// to make do with fewer threads. FFTW has one such function a process: plans of the application that have threads then
// use the team as well, with the same results, and a function that it set itself before gives way.
#pragma once

#include <mutex>
#include <span>
#include <string>

#include "generator/plan/plan.h"
#include "runtime/backends/cpu/fft/fftw/fftw_api.h"

namespace fourtune::runtime::cpu {

// FFTW_ESTIMATE, FFTW_MEASURE or FFTW_PATIENT. No time limit is set: rigor patient may plan for minutes, as FFTW does.
unsigned planner_flags(generator::Rigor rigor);

// While it lives, this thread owns FFTW's planner of precision T (and the mutex of both precisions).
template <class T>
class PlannerSession {
 public:
  // wisdom: text from FFTW's export; empty, damaged, foreign or of the other precision: ignored.
  // threads: that plans made in this session use.
  explicit PlannerSession(const std::string& wisdom, int threads = 1);
  ~PlannerSession();
  PlannerSession(const PlannerSession&) = delete;
  PlannerSession& operator=(const PlannerSession&) = delete;
  // All that is known now: the wisdom passed in and that of the plans made since.
  std::string wisdom() const;

 private:
  std::lock_guard<ForkSafeMutex> lock_;
  std::string saved_;
  int saved_threads_ = 1;
};

// One text that holds the wisdom of all; empty when none holds any.
template <class T>
std::string merge_wisdom(std::span<const std::string> texts);

}  // namespace fourtune::runtime::cpu
