#include "runtime/backends/cpu/fft/fftw/wisdom.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "base/fork_safe_mutex.h"
#include "fourtune/status.h"
#include "runtime/backends/cpu/base/team.h"

namespace fourtune::runtime::cpu {
namespace {

template <class T>
std::string exported() {
  char* text = Fftw<T>::export_wisdom();
  if (text == nullptr) return {};
  std::string result(text);
  std::free(text);  // FFTW documents free() for this string
  return result;
}

// FFTW's jobs run on our team, because FFTW's threads end or hang the process where no thread can be created, and after
// fork. FFTW has one such function per process, so the application's plans use the team too (wisdom.h).
void run_jobs(void* (*work)(char*), char* data, std::size_t size, int count, void*) {
  parallel_for(count, count, [=](std::int64_t i) { work(data + static_cast<std::size_t>(i) * size); });
}

// FFTW may stay loaded when this library is unloaded.
struct JobsTaken {
  bool any[2] = {false, false};
  ~JobsTaken() {
    if (any[0]) Fftw<float>::set_jobs(nullptr);
    if (any[1]) Fftw<double>::set_jobs(nullptr);
  }
} jobs_taken;

// Called before our first plan with several threads; the planner's lock is held.
template <class T>
void take_jobs() {
  bool& taken = jobs_taken.any[sizeof(T) == sizeof(double)];
  if (!taken) Fftw<T>::set_jobs(&run_jobs);
  taken = true;
}

// Runs once per precision. Planner calls of the application on other threads then exclude ours inside FFTW as well; the
// lock costs little compared with planning.
template <class T>
void initialise() {
  static const bool done = [] {
    Fftw<T>::init_threads();
    Fftw<T>::make_planner_thread_safe();
    return true;
  }();
  (void)done;
}

// An empty table exports as "(fftw-3.3.10 fftw_wisdom #x... #x...\n)"; entries appear as nested parentheses.
bool holds_entries(const std::string& text) { return text.find('(', 1) != std::string::npos; }

}  // namespace

ForkSafeMutex& planner_mutex() {
  // Never destroyed: plans with static lifetime may outlive every other static object.
  static auto* mutex = new ForkSafeMutex;
  return *mutex;
}

unsigned planner_flags(generator::Rigor rigor) {
  switch (rigor) {
    case generator::Rigor::estimate:
      return FFTW_ESTIMATE;
    case generator::Rigor::measure:
      return FFTW_MEASURE;
    case generator::Rigor::patient:
      return FFTW_PATIENT;
  }
  return FFTW_MEASURE;
}

double planning_seconds() {
  constexpr double kUsual = 10;
  const char* text = std::getenv("FOURTUNE_FFTW_SECONDS");
  if (text == nullptr || *text == 0) return kUsual;
  double seconds = -1;
  const char* end = text + std::strlen(text);
  const auto [stop, error] = std::from_chars(text, end, seconds);
  if (error != std::errc() || stop != end || !(seconds >= 0) || !std::isfinite(seconds))
    throw Error(Status::invalid_option, std::string("FOURTUNE_FFTW_SECONDS is '") + text +
                                            "', not a number of seconds of 0 (no limit) or more");
  return seconds;
}

template <class T>
PlannerSession<T>::PlannerSession(const std::string& wisdom, int threads) : lock_(planner_mutex()) {
  initialise<T>();
  saved_ = exported<T>();
  saved_threads_ = Fftw<T>::threads();
  Fftw<T>::forget_wisdom();
  if (!wisdom.empty()) Fftw<T>::import_wisdom(wisdom.c_str());
  if (threads > 1) take_jobs<T>();
  Fftw<T>::set_threads(threads);
}

template <class T>
PlannerSession<T>::~PlannerSession() {
  Fftw<T>::forget_wisdom();
  if (holds_entries(saved_)) Fftw<T>::import_wisdom(saved_.c_str());
  Fftw<T>::set_threads(saved_threads_);
}

template <class T>
std::string PlannerSession<T>::wisdom() const {
  std::string text = exported<T>();
  return holds_entries(text) ? text : std::string();
}

template <class T>
std::string merge_wisdom(std::span<const std::string> texts) {
  if (std::all_of(texts.begin(), texts.end(), [](const std::string& text) { return text.empty(); })) return {};
  const PlannerSession<T> session("");
  for (const std::string& text : texts) {
    if (!text.empty()) Fftw<T>::import_wisdom(text.c_str());
  }
  return session.wisdom();
}

template class PlannerSession<float>;
template class PlannerSession<double>;
template std::string merge_wisdom<float>(std::span<const std::string>);
template std::string merge_wisdom<double>(std::span<const std::string>);

}  // namespace fourtune::runtime::cpu
