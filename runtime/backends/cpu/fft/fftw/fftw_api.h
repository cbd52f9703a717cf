// FFTW's two precisions under one name, and owning types for its plans and memory.
#pragma once

#include <fftw3.h>

#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

#include "base/fork_safe_mutex.h"

namespace fourtune::runtime::cpu {

// FFTW's planner (plan creation and destruction, wisdom, thread count) is shared by the process and not thread-safe:
// hold this mutex for each of those calls. Executing plans needs no lock.
ForkSafeMutex& planner_mutex();

// Fftw<T>: the functions of the library for T = float or double.
template <class T>
struct Fftw;

// NOLINTBEGIN(bugprone-macro-parentheses): X is the beginning of a name and T a type.
#define FOURTUNE_FFTW_API(T, X)                                                                                        \
  template <>                                                                                                          \
  struct Fftw<T> {                                                                                                     \
    using Complex = X##complex;                                                                                        \
    using Plan = X##plan;                                                                                              \
    using Dim = X##iodim64;                                                                                            \
    static Plan plan_c2c(int rank, const Dim* dims, int loops, const Dim* loop, Complex* in, Complex* out, int sign,   \
                         unsigned flags) {                                                                             \
      return X##plan_guru64_dft(rank, dims, loops, loop, in, out, sign, flags);                                        \
    }                                                                                                                  \
    static Plan plan_r2c(int rank, const Dim* dims, int loops, const Dim* loop, T* in, Complex* out, unsigned flags) { \
      return X##plan_guru64_dft_r2c(rank, dims, loops, loop, in, out, flags);                                          \
    }                                                                                                                  \
    static Plan plan_c2r(int rank, const Dim* dims, int loops, const Dim* loop, Complex* in, T* out, unsigned flags) { \
      return X##plan_guru64_dft_c2r(rank, dims, loops, loop, in, out, flags);                                          \
    }                                                                                                                  \
    static void execute_c2c(Plan p, Complex* in, Complex* out) { X##execute_dft(p, in, out); }                         \
    static void execute_r2c(Plan p, T* in, Complex* out) { X##execute_dft_r2c(p, in, out); }                           \
    static void execute_c2r(Plan p, Complex* in, T* out) { X##execute_dft_c2r(p, in, out); }                           \
    static void destroy(Plan p) { X##destroy_plan(p); }                                                                \
    static char* print(Plan p) { return X##sprint_plan(p); }                                                           \
    static void set_time_limit(double seconds) { X##set_timelimit(seconds); }                                          \
    static int alignment_of(void* p) { return X##alignment_of(static_cast<T*>(p)); }                                   \
    static char* export_wisdom() { return X##export_wisdom_to_string(); }                                              \
    static int import_wisdom(const char* text) { return X##import_wisdom_from_string(text); }                          \
    static void forget_wisdom() { X##forget_wisdom(); }                                                                \
    static void init_threads() { X##init_threads(); }                                                                  \
    static void make_planner_thread_safe() { X##make_planner_thread_safe(); }                                          \
    using Jobs = void (*)(void* (*work)(char*), char* data, std::size_t size, int count, void* own);                   \
    static void set_jobs(Jobs run) { X##threads_set_callback(run, nullptr); }                                          \
    static void set_threads(int threads) { X##plan_with_nthreads(threads); }                                           \
    static int threads() { return X##planner_nthreads(); }                                                             \
  };
FOURTUNE_FFTW_API(float, fftwf_)
FOURTUNE_FFTW_API(double, fftw_)
#undef FOURTUNE_FFTW_API
// NOLINTEND(bugprone-macro-parentheses)

template <class T>
typename Fftw<T>::Complex* fftw_cast(const std::complex<T>* p) {
  // FFTW takes mutable pointers even for inputs that it preserves.
  return reinterpret_cast<typename Fftw<T>::Complex*>(const_cast<std::complex<T>*>(p));
}

// Owns one FFTW plan; the destructor takes the planner's lock.
template <class T>
class FftwPlan {
 public:
  FftwPlan() = default;
  explicit FftwPlan(typename Fftw<T>::Plan plan) : plan_(plan) {}
  FftwPlan(FftwPlan&& other) noexcept : plan_(other.plan_) { other.plan_ = nullptr; }
  FftwPlan& operator=(FftwPlan&& other) noexcept {
    std::swap(plan_, other.plan_);
    return *this;
  }
  ~FftwPlan() {
    if (plan_ == nullptr) return;
    const std::lock_guard lock(planner_mutex());
    Fftw<T>::destroy(plan_);
  }
  typename Fftw<T>::Plan get() const { return plan_; }
  explicit operator bool() const { return plan_ != nullptr; }

 private:
  typename Fftw<T>::Plan plan_ = nullptr;
};

}  // namespace fourtune::runtime::cpu
