#include "runtime/backends/cpu/base/team.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <memory>
#include <mutex>
#include <new>

#include "base/usable_threads.h"
#include "runtime/backends/cpu/base/waiting.h"

namespace fourtune::runtime::cpu {
namespace {

constexpr std::size_t kLine = 64;
constexpr int kWokenByOne = 3;

thread_local bool inside_loop = false;
thread_local int thread_number = 0;  // the system's thread id; 0 means not queried yet

int this_thread() {
  if (thread_number == 0) thread_number = static_cast<int>(syscall(SYS_gettid));
  return thread_number;
}

class Loop;

// ---- workers
struct alignas(kLine) Worker {
  // kFree: awake and without work. kAsleep: must be woken. kCalled: has work but has not begun.
  enum State : std::int32_t { kFree, kAsleep, kCalled, kWorking, kDismissed };
  WaitWord state{kFree};
  Loop* loop = nullptr;
  int number = 0;                              // its number within the loop
  Worker* next = nullptr;                      // next in its crew, or in the idle list
  std::atomic<Worker*> next_sleeper{nullptr};  // next in the list of workers that the loop must wake
  pthread_t thread{};

  // Returns true when the worker must be woken.
  bool call(Loop& to, int as) {
    loop = &to;
    number = as;
    return state.exchange(kCalled, std::memory_order_acq_rel) == kAsleep;
  }
  // Returns true when the worker has not begun and will not begin. It may be asleep or waiting for a processor.
  bool call_off() {
    std::int32_t called = kCalled;
    return state.compare_exchange_strong(called, kAsleep, std::memory_order_acq_rel);
  }
  void dismiss() {
    if (state.exchange(kDismissed, std::memory_order_acq_rel) == kAsleep) wake_one(state);
    pthread_join(thread, nullptr);
  }
  void work();

 private:
  bool wait_for_call();
};

// Returns false when the worker is dismissed.
bool Worker::wait_for_call() {
  Patience patience;
  for (;;) {
    std::int32_t now = state.load(std::memory_order_acquire);
    if (now == kDismissed) return false;
    if (now == kCalled) {
      if (state.compare_exchange_strong(now, kWorking, std::memory_order_acq_rel)) return true;
      continue;
    }
    if (now == kAsleep) {  // called off before the system let it run: the next loop is near
      if (state.compare_exchange_strong(now, kFree, std::memory_order_acq_rel)) patience = Patience();
      continue;
    }
    if (patience.left()) continue;
    if (state.compare_exchange_strong(now, kAsleep, std::memory_order_acq_rel)) sleep_while(state, kAsleep);
  }
}

// ---- one loop
// Lives on its caller's stack until every worker has left it.
class Loop {
 public:
  // crew: a linked list of the workers other than the caller.
  Loop(std::int64_t count, std::int64_t grain, Handing handing, Worker* crew, int workers, const LoopBody& body)
      : body_(body),
        crew_(crew),
        shares_(handing == Handing::ascending ? 1 : std::min(workers + 1, kMostShares)),
        working_(workers) {
    for (int s = 0; s < shares_; ++s) {
      share_[s].next.store(first_of(count, s), std::memory_order_relaxed);
      share_[s].end = first_of(count, s + 1);
    }
    constexpr std::int64_t kPieces = 16;  // per share: small, so that the last ones end almost together
    step_ = handing == Handing::ascending ? grain : std::max(grain, count / shares_ / kPieces);
  }

  void run() {
    call_crew();
    take_part(0);
    int absent = 0;
    for (Worker* w = crew_; w; w = w->next) absent += w->call_off() ? 1 : 0;
    wait_for_all_but(absent);
    if (error_) std::rethrow_exception(error_);
  }

  // Processes units until none are left.
  void take_part(int number) noexcept {
    wake_some();
    inside_loop = true;
    try {
      for (int i = 0; i < shares_; ++i) use_up(share_[(number + i) % shares_], number);
    } catch (...) {
      if (!failed_.exchange(true, std::memory_order_acq_rel)) error_ = std::current_exception();
    }
    inside_loop = false;
  }
  // The caller's processor and thread when the loop started.
  int processor() const { return processor_; }
  int thread() const { return thread_; }
  // The worker must not touch the loop after this call.
  void leave() {
    if (working_.fetch_sub(1, std::memory_order_acq_rel) == (kAwaited | 1)) wake_one(working_);
  }

 private:
  static constexpr int kMostShares = 32;
  static constexpr std::int32_t kAwaited = 1 << 30;
  struct alignas(kLine) Share {
    std::atomic<std::int64_t> next;
    std::int64_t end;
  };

  std::int64_t first_of(std::int64_t count, int s) const {
    return count / shares_ * s + std::min<std::int64_t>(s, count % shares_);
  }

  void call_crew() {
    int number = 0;
    Worker* sleepers = nullptr;
    for (Worker* w = crew_; w; w = w->next) {
      if (!w->call(*this, ++number)) continue;
      w->next_sleeper = sleepers;
      sleepers = w;
    }
    sleepers_.store(sleepers, std::memory_order_release);
  }
  // Each wake-up takes a system call, so every thread that is awake wakes a few, and those wake others.
  void wake_some() {
    Worker* sleeper = sleepers_.load(std::memory_order_acquire);
    for (int woken = 0; sleeper && woken < kWokenByOne;) {
      if (!sleepers_.compare_exchange_weak(sleeper, sleeper->next_sleeper, std::memory_order_acq_rel)) continue;
      wake_one(sleeper->state);
      ++woken;
      sleeper = sleepers_.load(std::memory_order_acquire);
    }
  }
  void use_up(Share& share, int number) {
    while (!failed_.load(std::memory_order_relaxed)) {
      // The load keeps latecomers from incrementing `next` without limit.
      if (share.next.load(std::memory_order_relaxed) >= share.end) return;
      const std::int64_t first = share.next.fetch_add(step_, std::memory_order_relaxed);
      if (first >= share.end) return;
      body_(first, std::min(share.end, first + step_), number);
    }
  }
  void wait_for_all_but(int absent) {
    std::int32_t left = working_.fetch_sub(absent, std::memory_order_acq_rel) - absent;
    for (Patience patience; left != 0 && patience.left();) left = working_.load(std::memory_order_acquire);
    while ((left & ~kAwaited) != 0) {
      if ((left & kAwaited) != 0 || working_.compare_exchange_strong(left, left | kAwaited, std::memory_order_acq_rel))
        sleep_while(working_, left | kAwaited);
      left = working_.load(std::memory_order_acquire);
    }
  }

  const LoopBody& body_;
  const int processor_ = sched_getcpu(), thread_ = this_thread();
  Worker* const crew_;
  const int shares_;
  std::int64_t step_ = 1;
  std::exception_ptr error_;
  std::atomic<bool> failed_{false};
  std::atomic<Worker*> sleepers_{nullptr};
  alignas(kLine) WaitWord working_;  // workers called that have not left, plus a flag for a sleeping caller
  Share share_[kMostShares];
};

// If a caller and its worker share a processor, they take turns instead of running in parallel, and the system leaves
// them there while other work keeps the remaining processors busy. So the worker moves to another processor, among
// those that its caller may use. Then it may run on all of these again: its caller may wake elsewhere, and a worker
// that is confined to that processor would wait there until its caller's time slice ends, beside an idle one.
void keep_apart(const Loop& loop) {
  if (sched_getcpu() != loop.processor()) return;
  cpu_set_t all;
  if (sched_getaffinity(loop.thread(), sizeof all, &all) != 0) return;
  cpu_set_t others = all;
  CPU_CLR(loop.processor(), &others);
  if (CPU_COUNT(&others) > 0 && sched_setaffinity(0, sizeof others, &others) == 0)
    sched_setaffinity(0, sizeof all, &all);
}

void Worker::work() {
  while (wait_for_call()) {
    Loop& of = *loop;
    keep_apart(of);
    of.take_part(number);
    state.store(kFree, std::memory_order_relaxed);  // before leave(): then another loop may call
    of.leave();
  }
}

// ---- the team
std::atomic<int> forced_error{0};
std::atomic<int> capacity{1};  // limit on the threads inside loops

void raise_capacity(int to) {
  int now = capacity.load(std::memory_order_relaxed);
  while (now < to && !capacity.compare_exchange_weak(now, to, std::memory_order_relaxed)) {
  }
}

class Team {
 public:
  // The team of this process; the first call creates it.
  static Team& get();
  void run(int threads, std::int64_t count, std::int64_t grain, Handing handing, const LoopBody& body);
  // Ends the idle workers; later loops get no workers.
  void close();
  int made() {
    const std::lock_guard lock(mutex_);
    return made_;
  }

 private:
  class Crew;
  Worker* take(int wanted, int& taken);
  void give_back(Worker* crew, int workers);
  Worker* make_worker();

  std::mutex mutex_;
  Worker* idle_ = nullptr;  // most recently used first
  int inside_ = 0;          // callers and workers now inside loops
  int made_ = 0;
  bool closed_ = false;
  std::chrono::steady_clock::time_point next_try_;  // earliest time to try creating a thread again after a failure
};

std::atomic<Team*> current_team{nullptr};

// A forked child has none of its parent's workers, and the lock may be held by a thread that does not exist in the
// child. So the child abandons the parent's team and keeps the pointer only so that leak checkers do not report it.
std::atomic<Team*> parents_team{nullptr};
void forget_team() {
  if (Team* team = current_team.exchange(nullptr)) parents_team.store(team);
  inside_loop = false;
  thread_number = 0;
}

struct Lifetime {
  Lifetime() { pthread_atfork(nullptr, nullptr, &forget_team); }
  // At exit() or when the library is unloaded, no thread may be asleep in code that is about to disappear.
  ~Lifetime() {
    if (Team* team = current_team.load(std::memory_order_acquire)) team->close();
  }
} lifetime;

Team& Team::get() {
  Team* team = current_team.load(std::memory_order_acquire);
  if (team) return *team;
  auto fresh = std::make_unique<Team>();
  if (current_team.compare_exchange_strong(team, fresh.get(), std::memory_order_acq_rel)) return *fresh.release();
  return *team;
}

// The workers of one loop; they are given back even when an exception is thrown.
class Team::Crew {
 public:
  Crew(Team& team, int wanted) : team_(team), first_(team.take(wanted, count_)) {}
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;
  ~Crew() { team_.give_back(first_, count_); }
  Worker* first() const { return first_; }
  int count() const { return count_; }

 private:
  Team& team_;
  int count_ = 0;
  Worker* first_;
};

void Team::run(int threads, std::int64_t count, std::int64_t grain, Handing handing, const LoopBody& body) {
  const Crew crew(*this, threads - 1);
  if (crew.count() == 0) {
    body(0, count, 0);
  } else {
    Loop(count, grain, handing, crew.first(), crew.count(), body).run();
  }
}

Worker* Team::take(int wanted, int& taken) {
  const std::lock_guard lock(mutex_);
  wanted = closed_ ? 0 : std::min(wanted, capacity.load(std::memory_order_relaxed) - inside_ - 1);
  Worker* crew = nullptr;
  Worker** last = &crew;
  for (taken = 0; taken < wanted; ++taken) {
    Worker* worker = idle_;
    if (worker) {
      idle_ = worker->next;
    } else if (!(worker = make_worker())) {
      break;
    }
    worker->next = nullptr;
    *last = worker;
    last = &worker->next;
  }
  inside_ += taken + 1;
  return crew;
}

void Team::give_back(Worker* crew, int workers) {
  const std::lock_guard lock(mutex_);
  inside_ -= workers + 1;
  if (!crew) return;
  Worker* last = crew;
  while (last->next) last = last->next;
  last->next = idle_;
  idle_ = crew;
}

// Workers block the application's signals, except those raised by faults (for its crash reports) and used by profilers.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t most;
    sigfillset(&most);
    for (const int open : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT, SIGPROF}) sigdelset(&most, open);
    pthread_sigmask(SIG_SETMASK, &most, &before_);
  }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

// Returns 0 or the error number.
int start(Worker& worker) {
  constexpr std::size_t kStack = std::size_t{2} << 20;
  if (const int error = forced_error.load(std::memory_order_relaxed)) return error;
  pthread_attr_t attributes;
  if (const int error = pthread_attr_init(&attributes)) return error;
  pthread_attr_setstacksize(&attributes, kStack);
  const SignalsBlocked blocked;
  const auto run = [](void* started) -> void* {
    static_cast<Worker*>(started)->work();
    return nullptr;
  };
  const int error = pthread_create(&worker.thread, &attributes, run, &worker);
  pthread_attr_destroy(&attributes);
  if (error == 0) pthread_setname_np(worker.thread, "fourtune");
  return error;
}

// Returns null when no thread can be created; no further attempt is made for one second.
Worker* Team::make_worker() {
  const auto now = std::chrono::steady_clock::now();
  if (now < next_try_) return nullptr;
  std::unique_ptr<Worker> worker(new (std::nothrow) Worker);
  if (!worker || start(*worker) != 0) {
    next_try_ = now + std::chrono::seconds(1);
    return nullptr;
  }
  ++made_;
  return worker.release();
}

void Team::close() {
  Worker* idle = nullptr;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    std::swap(idle, idle_);
  }
  while (idle) {
    const std::unique_ptr<Worker> worker(idle);
    idle = idle->next;
    worker->dismiss();
  }
}

}  // namespace

int team_size(int threads) {
  const int usable = usable_threads();
  raise_capacity(usable);
  return std::clamp(threads, 1, usable);
}

void run_loop(int threads, std::int64_t count, std::int64_t grain, Handing handing, const LoopBody& body) {
  if (count <= 0) return;
  grain = std::max<std::int64_t>(1, grain);
  raise_capacity(threads);
  const auto useful = static_cast<int>(std::min<std::int64_t>(threads, (count + grain - 1) / grain));
  if (useful <= 1 || inside_loop) {
    body(0, count, 0);
  } else {
    Team::get().run(useful, count, grain, handing, body);
  }
}

int team_threads_made() { return Team::get().made(); }
void fail_team_threads(int error) { forced_error.store(error, std::memory_order_relaxed); }

}  // namespace fourtune::runtime::cpu
