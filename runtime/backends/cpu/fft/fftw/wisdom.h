// Isolates FFTW planning: a plan depends only on the wisdom passed in, and the process's FFTW wisdom is restored.
//
// FFTW keeps one wisdom table per precision for the whole process, and even an ESTIMATE plan uses a MEASUREd entry when
// it finds one. A session therefore sets the table aside, imports only the text it was given, and restores the table at
// its end. So a plan of rigor estimate is the same whatever ran before it, and an application that also uses FFTW keeps
// its wisdom and its thread count. FFTW's rule remains: an application that plans with FFTW on another thread while a
// transform is being created must serialise the two.
//
// Once the first plan with several threads exists, FFTW's jobs run on our team (fftw_threads_set_callback), which can
// make do with fewer threads. FFTW has one such function per process: the application's threaded plans then use the
// team as well, with the same results, and a function that the application set earlier is replaced.
//
// Planning takes at most planning_seconds(), through fftw_set_timelimit, which also belongs to the process. FFTW does
// not say what limit is set, so after a plan was measured the process has none: an application with a limit sets it
// again. Estimates and plans whose wisdom is known set no limit and leave the application's alone.
#pragma once

#include <mutex>
#include <span>
#include <string>

#include "generator/plan/plan.h"
#include "runtime/backends/cpu/fft/fftw/fftw_api.h"

namespace fourtune::runtime::cpu {

// FFTW_ESTIMATE, FFTW_MEASURE or FFTW_PATIENT.
unsigned planner_flags(generator::Rigor rigor);

// The most that FFTW may measure for one plan; when the time is over, it makes the best plan that it knows by then,
// with its estimate as the least. 10 s, or FOURTUNE_FFTW_SECONDS (0: no limit; throws Error{invalid_option} for what is
// no such number). Within 10 s FFTW finishes c2c lines of up to about 2^18 points. Longer lines gain little from
// minutes more, and a candidate of the tuner, which has 30 s, still has the time to be validated and measured.
double planning_seconds();

// While it exists, this thread owns FFTW's planner of precision T (and the mutex of both precisions).
template <class T>
class PlannerSession {
 public:
  // wisdom: text exported by FFTW; ignored when empty, damaged, foreign or of the other precision.
  // threads: the number of threads of plans made in this session.
  explicit PlannerSession(const std::string& wisdom, int threads = 1);
  ~PlannerSession();
  PlannerSession(const PlannerSession&) = delete;
  PlannerSession& operator=(const PlannerSession&) = delete;
  // All wisdom known now: the text passed in and the wisdom of the plans made since.
  std::string wisdom() const;

 private:
  std::lock_guard<ForkSafeMutex> lock_;
  std::string saved_;
  int saved_threads_ = 1;
};

// Calls make(flags), which makes an FFTW plan, so that planning ends in time; a session exists. Wisdom of a planning
// that ended early is used under the same limit or a shorter one.
template <class T, class Make>
FftwPlan<T> plan_in_time(generator::Rigor rigor, const Make& make) {
  const unsigned flags = planner_flags(rigor);
  if (rigor == generator::Rigor::estimate) return FftwPlan<T>(make(flags));
  if (const auto known = make(flags | FFTW_WISDOM_ONLY)) return FftwPlan<T>(known);
  const double seconds = planning_seconds();
  if (seconds > 0) Fftw<T>::set_time_limit(seconds);
  FftwPlan<T> plan(make(flags));
  if (seconds > 0) Fftw<T>::set_time_limit(FFTW_NO_TIMELIMIT);
  return plan;
}

// Returns one text with the wisdom of all texts; empty when none holds any.
template <class T>
std::string merge_wisdom(std::span<const std::string> texts);

}  // namespace fourtune::runtime::cpu
