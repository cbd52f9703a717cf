#include "dropin/cufft/engine.h"

#include <cxxabi.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <deque>
#include <list>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "base/fork_safe_mutex.h"
#include "dropin/cufft/here.h"
#include "generator/candidates.h"
#include "runtime/backend_table.h"
#include "runtime/backends/cuda/stream_order.h"
#include "runtime/plan_sources.h"
#include "runtime/resolve.h"

namespace fourtune::dropin {
namespace {

constexpr std::size_t kMostKept = 64, kMostNoted = 4096;
constexpr std::int64_t kMostKeptBytes = 256 << 20;
constexpr double kMostOfFree = 0.125;  // of the device's free memory, for one transform

using Clock = std::chrono::steady_clock;
// A program that makes its plans one after the other takes 0.1 to 5 ms for each.
constexpr std::chrono::milliseconds kQuiet{20}, kLongestNoise{1000};

// What the kernels of a plan are made of.
struct Made {
  std::unique_ptr<Transform> transform;
  std::unique_ptr<Trial> trial;
};
struct Kept {
  Wish wish;
  Made made;
};

// A wish that came before.
struct Noted {
  Wish wish;
  Clock::time_point latest;  // when its transform is begun if the program never stops making plans
  bool lost = false;         // the real library was faster
};

struct Engine {
  ForkSafeMutex mutex;
  std::condition_variable_any changed;  // a new wish, a finished job, or the end
  std::deque<std::shared_ptr<Job>> wanted;
  std::list<Kept> kept;                 // the most recent one first
  std::deque<Noted> noted;              // likewise
  std::vector<Made> gone;               // what the thread destroys
  bool started = false, works = false;  // the thread; whether it is making a transform
  bool ends = false;                    // nothing is begun any more
  std::string backend = "cuda";
};
Engine& engine() {
  static Engine* const only = new Engine;  // never destroyed: plans are used until the process ends
  return *only;
}

std::atomic<Clock::time_point> last_plan{Clock::time_point{}};  // of the program's, when it was made

Noted* find_noted(const Wish& wish) {
  auto& noted = engine().noted;
  const auto found = std::find_if(noted.begin(), noted.end(), [&](const Noted& one) { return one.wish == wish; });
  return found == noted.end() ? nullptr : &*found;
}

Made take_kept(const Wish& wish) {
  auto& kept = engine().kept;
  const auto found = std::find_if(kept.begin(), kept.end(), [&](const Kept& one) { return one.wish == wish; });
  if (found == kept.end()) return {};
  Made made = std::move(found->made);
  kept.erase(found);
  return made;
}

// Returns what the caller destroys once the mutex is free.
std::list<Kept> keep(Kept one) {
  auto& kept = engine().kept;
  std::list<Kept> gone;
  kept.push_front(std::move(one));
  std::int64_t bytes = 0;
  std::size_t count = 0;
  for (auto at = kept.begin(); at != kept.end();) {
    const auto here = at++;
    bytes += here->made.transform->memory().held;
    if (++count > kMostKept || bytes > kMostKeptBytes) gone.splice(gone.end(), kept, here);
  }
  return gone;
}

bool is_library(const generator::Plan& plan) { return plan.gpu().fft.family == generator::GpuFftFamily::cufft; }

// The untuned choice falls on cuFFT for dense arrays only, and counts the copy that we would make of a c2r's input.
// Here nobody copies, and dense arrays say what strided ones of that size are like.
bool library_is_chosen(const Problem& problem, const runtime::Resolution& found, const DeviceTraits& traits) {
  if (is_library(found.plan)) return true;
  if (found.source != runtime::Source::model) return false;
  Problem like = problem;
  like.input_layout.reset(), like.output_layout.reset();
  if (problem.fft_type == FftType::c2r) like.place = Place::in;
  return like != problem && is_library(generator::default_plan(like, traits));
}

// Returns why not, or `none` and what was made.
Why make(const Wish& wish, Made& made) {
  Options options;
  options.backend = engine().backend;
  options.device = wish.device;
  if (uses_device() && !is_primary(wish.device, wish.context)) return Why::context;
  const DeviceTraits traits = runtime::find_backend(options.backend).traits(wish.device);
  const auto lookup = runtime::shared_lookup(options);
  const runtime::Resolution found = runtime::resolve(wish.problem, traits, lookup.get(), {});
  if (library_is_chosen(wish.problem, found, traits)) return Why::faster;
  const double bytes = generator::estimate(found.plan, wish.problem, traits).bytes;
  if (uses_device() && bytes > kMostOfFree * static_cast<double>(free_memory(wish.device))) return Why::memory;
  made.transform = std::make_unique<Transform>(to_token(wish.problem), options);
  if (made.transform->plan().find("fft=cufft") != std::string::npos) return Why::failed;  // no compiler
  if (uses_device()) made.trial = std::make_unique<Trial>(make_stopwatch(wish.device));
  return Why::none;
}

Why try_to_make(const Wish& wish, Made& made) noexcept {
  try {
    return make(wish, made);
  } catch (const Error& error) {
    return error.status() == Status::out_of_memory ? Why::memory : Why::failed;
  } catch (...) {
    return Why::failed;
  }
}

// Called by exit(). The thread gets time to end what it is making; a driver that is going down could hold it for ever.
void finish(void*) {
  constexpr std::chrono::seconds kMost{3};
  Engine& all = engine();
  std::unique_lock lock(all.mutex);
  if (std::exchange(all.ends, true)) return;
  for (const auto& job : all.wanted) job->state = JobState::refused;
  all.wanted.clear();
  all.changed.notify_all();
  all.changed.wait_for(lock, kMost, [&] { return !all.works; });
}

// Returns when the program makes no plans, or the job is late. Called with the mutex, which is free meanwhile.
void wait_for_quiet(const Job& job, std::unique_lock<ForkSafeMutex>& lock) {
  Engine& all = engine();
  while (!all.ends && !job.abandoned) {
    const Clock::time_point until = std::min(last_plan.load() + kQuiet, job.latest);
    if (Clock::now() >= until) return;
    all.changed.wait_until(lock, until);
  }
}

// Takes the next job. Called with the mutex, which is free while a transform is made.
void work_on(const std::shared_ptr<Job>& job, std::unique_lock<ForkSafeMutex>& lock) {
  Engine& all = engine();
  if (job->abandoned) return;
  Why why = Why::none;
  Made made = take_kept(job->wish);
  if (!made.transform) {
    all.works = true;
    lock.unlock();
    // Again, to be called before what libraries have registered since.
    abi::__cxa_atexit(finish, nullptr, nullptr);
    why = try_to_make(job->wish, made);
    if (why != Why::none) made = {};
    lock.lock();
    all.works = false;
  }
  job->why = why;
  std::list<Kept> gone;
  if (job->abandoned && made.transform)
    gone = keep({job->wish, std::move(made)});
  else
    job->transform = std::move(made.transform), job->trial = std::move(made.trial);
  job->state = why == Why::none ? JobState::ready : JobState::refused;
  all.changed.notify_all();
  lock.unlock();
  gone.clear();
  lock.lock();
}

// Never returns; after finish() it only waits.
void work() {
  Engine& all = engine();
  std::unique_lock lock(all.mutex);
  for (;;) {
    all.changed.wait(lock, [&] { return !all.ends && !(all.wanted.empty() && all.gone.empty()); });
    if (!all.wanted.empty()) {
      const auto job = all.wanted.front();
      wait_for_quiet(*job, lock);
      if (all.ends) continue;
      all.wanted.pop_front();
      work_on(job, lock);
    }
    std::vector<Made> gone = std::move(all.gone);
    all.gone.clear();
    all.works = !gone.empty();
    lock.unlock();
    {
      const runtime::cuda::RelaxedCapture allowed;  // the program may record a graph
      gone.clear();
    }
    lock.lock();
    if (std::exchange(all.works, false)) all.changed.notify_all();
  }
}

// The program's signals are for its own threads.
void start_thread() {
  struct NoSignals {
    sigset_t before;
    NoSignals() {
      sigset_t all;
      sigfillset(&all);
      pthread_sigmask(SIG_SETMASK, &all, &before);
    }
    ~NoSignals() { pthread_sigmask(SIG_SETMASK, &before, nullptr); }
  } const none;
  abi::__cxa_atexit(finish, nullptr, nullptr);  // of no object: loader.cpp
  std::thread(work).detach();
}

}  // namespace

std::shared_ptr<Job> request(const Wish& wish, bool at_once) {
  Engine& all = engine();
  const std::lock_guard lock(all.mutex);
  const Noted* noted = find_noted(wish);
  if (!noted) {
    noted = &all.noted.emplace_front(Noted{wish, at_once ? Clock::time_point{} : Clock::now() + kLongestNoise});
    if (all.noted.size() > kMostNoted) all.noted.pop_back();
    if (!at_once) return nullptr;
  }
  auto made = std::make_shared<Job>();
  made->wish = wish;
  made->latest = noted->latest;
  if (noted->lost) {
    made->why = Why::measured;
    made->state = JobState::refused;
    return made;
  }
  Made kept = take_kept(wish);
  if (kept.transform) {
    made->transform = std::move(kept.transform), made->trial = std::move(kept.trial);
    made->state = JobState::ready;
  } else if (all.ends) {
    made->state = JobState::refused;
  } else {
    if (!all.started) start_thread();
    all.started = true;
    all.wanted.push_back(made);
    all.changed.notify_all();
  }
  return made;
}

void wait_for(const Job& job) {
  std::unique_lock lock(engine().mutex);
  engine().changed.wait(lock, [&] { return job.state != JobState::waiting; });
}

void give_back(const std::shared_ptr<Job>& job) noexcept try {
  const runtime::cuda::RelaxedCapture allowed;  // what goes is freed, perhaps while the program records a graph
  std::list<Kept> gone;
  const std::lock_guard lock(engine().mutex);
  job->abandoned = true;
  if (job->recorded) job->transform.release();  // NOLINT(bugprone-unused-return-value): graphs have its kernels
  if (job->transform) gone = keep({job->wish, {std::move(job->transform), std::move(job->trial)}});
} catch (...) {  // no memory: the transform goes with the job
}

void give_up(Job& job) noexcept try {
  Engine& all = engine();
  const std::lock_guard lock(all.mutex);
  job.why = Why::measured;
  job.state = JobState::refused;
  all.gone.push_back({std::move(job.transform), std::move(job.trial)});
  if (Noted* const noted = find_noted(job.wish)) noted->lost = true;
  all.changed.notify_all();
} catch (...) {  // no memory: the next plan tries again
}

void note_new_plan() noexcept { last_plan = Clock::now(); }

void abandon_engine() noexcept { engine().ends = true; }

void use_backend(const std::string& name) { engine().backend = name; }
bool uses_device() {
  return runtime::known_backend(engine().backend)->capabilities().arrays == runtime::MemoryKind::device;
}

}  // namespace fourtune::dropin
