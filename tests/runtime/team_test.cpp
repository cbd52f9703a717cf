// The library's threads: every unit runs once, on any thread; fewer threads than requested, none, many callers, fork,
// exit.
#include "runtime/backends/cpu/base/team.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <mutex>
#include <new>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/usable_threads.h"

namespace fourtune::runtime::cpu {
namespace {

constexpr Handing kBoth[] = {Handing::shares, Handing::ascending};

// How often each unit was done. Fails if a worker's number is out of range or used by two threads at once.
std::vector<int> times_done(int threads, std::int64_t count, std::int64_t grain, Handing handing) {
  std::vector<std::atomic<int>> done(static_cast<std::size_t>(count)), busy(static_cast<std::size_t>(threads));
  parallel_for(
      threads, count,
      [&](std::int64_t i, int worker) {
        ASSERT_GE(worker, 0);
        ASSERT_LT(worker, threads);
        EXPECT_EQ(busy[worker].fetch_add(1), 0);
        ++done[i];
        busy[worker].fetch_sub(1);
      },
      grain, handing);
  return {done.begin(), done.end()};
}

std::set<int> allowed_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  EXPECT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
  std::set<int> processors;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &set)) processors.insert(cpu);
  return processors;
}
void allow_only(int processor) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(processor, &set);
  EXPECT_EQ(sched_setaffinity(0, sizeof set, &set), 0);
}

// A worker that starts on its caller's processor moves, and is confined to none; the caller's own processors stay as
// they are.
TEST(Team, WorkersLeaveTheirCallersProcessor) {
  const std::set<int> all = allowed_processors();
  if (all.size() < 2) GTEST_SKIP() << "one processor";
  const int ours = *all.begin();
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  const auto loop = [](const std::function<void()>& on_worker) {
    parallel_for(2, 2, [&](std::int64_t, int worker) {
      if (worker != 0) on_worker();
      std::this_thread::sleep_for(std::chrono::microseconds(200));  // so that the worker gets its unit
    });
  };
  bool any = false;
  for (int i = 0; i < 200; ++i) loop([&] { allow_only(ours), any = true; });
  if (!any) GTEST_SKIP() << "no worker came";
  // The worker is confined to our processor now. Each loop starts there as well, but its caller may go elsewhere. A
  // busy system may move the caller at once, and then the worker rightly stays; so this looks for one loop that frees
  // it.
  std::set<int> worker_may{ours};
  for (int i = 0; i < 1000 && worker_may == std::set<int>{ours}; ++i) {
    allow_only(ours);
    ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
    loop([&] { worker_may = allowed_processors(); });
  }
  EXPECT_EQ(allowed_processors(), all) << "of the caller";
  // On all of them, as its caller may wake where the worker went, and the worker has to run elsewhere then.
  EXPECT_EQ(worker_may, all) << "the worker never left processor " << ours << ", or is confined";
}

// ThreadSanitizer does not support threads of forked children.
#if defined(__SANITIZE_THREAD__)
constexpr bool kForks = false;
#else
constexpr bool kForks = true;
#endif
class TeamAndProcesses : public ::testing::Test {
  void SetUp() override {
    if (!kForks) GTEST_SKIP() << "not under ThreadSanitizer";
  }
};

// The exit code of a child process; -1 when it was killed.
int exit_code_of(const std::function<int()>& child) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::alarm(60);  // a child that hangs is killed
    ::_exit(child());
  }
  int status = 0;
  EXPECT_EQ(::waitpid(pid, &status, 0), pid);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool every_unit_once(int threads) {
  const auto done = times_done(threads, 1000, 1, Handing::shares);
  return std::count(done.begin(), done.end(), 1) == 1000;
}

TEST(Team, DoesEveryUnitOnceByWorkersBelowTheCount) {
  for (const Handing handing : kBoth) {
    for (const int threads : {1, 2, 3, 4, 7, 40}) {
      for (const std::int64_t count : {0, 1, 2, 3, 5, 64, 1001, 20000}) {
        for (const std::int64_t grain : {1, 4}) {
          const auto done = times_done(threads, count, grain, handing);
          EXPECT_EQ(std::count(done.begin(), done.end(), 1), count) << threads << " " << count << " " << grain;
        }
      }
    }
  }
}

TEST_F(TeamAndProcesses, NeverHasMoreWorkersThanTheLargestLoopNeeds) {
  const int code = exit_code_of([] {  // the child makes a new team
    for (int i = 0; i < 50; ++i) every_unit_once(4);
    return team_threads_made() <= std::max(3, usable_threads() - 1) ? 0 : 1;
  });
  EXPECT_EQ(code, 0);
}

TEST(Team, AscendingBeginsAUnitAfterAllBeforeIt) {
  constexpr std::int64_t kCount = 500;
  std::vector<std::atomic<bool>> begun(kCount);
  std::atomic<int> wrong{0};
  // A unit may have been assigned before it says so: a unit that waits for the one before it must never wait forever.
  parallel_for(
      4, kCount,
      [&](std::int64_t i) {
        begun[i] = true;
        while (i > 0 && !begun[i - 1]) std::this_thread::yield();
        if (i > 0 && !begun[i - 1]) ++wrong;
      },
      1, Handing::ascending);
  EXPECT_EQ(wrong, 0);
  EXPECT_TRUE(std::all_of(begun.begin(), begun.end(), [](const auto& b) { return b.load(); }));
}

TEST(Team, AnExceptionOfABodyComesOutAndTheTeamGoesOn) {
  for (int round = 0; round < 50; ++round) {
    std::string text;
    try {
      parallel_for(4, 100, [&](std::int64_t i) {
        if (i % 10 == 7) throw std::runtime_error("unit " + std::to_string(i));
      });
    } catch (const std::runtime_error& error) {
      text = error.what();
    }
    EXPECT_EQ(text.rfind("unit ", 0), 0u) << text;
    EXPECT_TRUE(every_unit_once(4));
  }
}

TEST(Team, ALoopInsideABodyRunsOnItsThread) {
  std::atomic<int> inner{0}, strangers{0};
  parallel_for(4, 20, [&](std::int64_t) {
    const auto me = std::this_thread::get_id();
    parallel_for(4, 30, [&](std::int64_t, int worker) {
      ++inner;
      if (std::this_thread::get_id() != me || worker != 0) ++strangers;
    });
  });
  EXPECT_EQ(inner, 600);
  EXPECT_EQ(strangers, 0);
}

TEST(Team, ServesManyThreadsOfTheApplicationAtOnce) {
  std::atomic<int> good{0};
  std::vector<std::thread> application;
  for (int t = 0; t < 8; ++t) {
    application.emplace_back([&good, t] {
      for (int i = 0; i < 100; ++i) good += every_unit_once(2 + (t + i) % 4) ? 1 : 0;
    });
  }
  for (auto& thread : application) thread.join();
  EXPECT_EQ(good, 800);
}

TEST_F(TeamAndProcesses, WorksAloneWhereNoThreadCanBeMade) {
  const int code = exit_code_of([] {
    fail_team_threads(EAGAIN);
    std::atomic<int> others{0};
    parallel_for(8, 1000, [&](std::int64_t, int worker) { others += worker != 0 ? 1 : 0; });
    return every_unit_once(8) && others == 0 && team_threads_made() == 0 ? 0 : 1;
  });
  EXPECT_EQ(code, 0);
}

// A limit of the system, not ours.
TEST_F(TeamAndProcesses, WorksUnderALimitOfProcesses) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root may become a user that has no threads left";
  const int code = exit_code_of([] {
    const rlimit one{1, 1};
    if (::setrlimit(RLIMIT_NPROC, &one) != 0 || ::setgid(65534) != 0 || ::setuid(65534) != 0) return 2;
    return every_unit_once(4) && team_threads_made() == 0 ? 0 : 1;
  });
  EXPECT_EQ(code, 0);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // the sanitizers need a lot of address space
TEST_F(TeamAndProcesses, WorksWhereStacksDoNotFitTheAddressSpace) {
  const int code = exit_code_of([] {
    std::ifstream statm("/proc/self/statm");
    rlim_t pages = 0;
    statm >> pages;
    const rlim_t bytes = pages * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE)) + (1 << 20);
    const rlimit few{bytes, bytes};
    if (::setrlimit(RLIMIT_AS, &few) != 0) return 2;
    // Stacks of the parent's workers may be reused.
    return every_unit_once(200) && team_threads_made() < 199 ? 0 : 1;
  });
  EXPECT_EQ(code, 0);
}
#endif

TEST_F(TeamAndProcesses, AForkedChildHasATeamOfItsOwn) {
  ASSERT_TRUE(every_unit_once(4));
  const int code = exit_code_of([] {
    if (!every_unit_once(4)) return 1;
    return exit_code_of([] { return every_unit_once(4) ? 0 : 1; });  // and so on
  });
  EXPECT_EQ(code, 0);
  EXPECT_TRUE(every_unit_once(4));
}

TEST_F(TeamAndProcesses, AForkWhileOthersAreInLoopsLeavesTheChildFree) {
  std::atomic<bool> stop{false};
  std::vector<std::thread> application;
  for (int t = 0; t < 3; ++t) {
    application.emplace_back([&stop] {
      while (!stop) every_unit_once(3);
    });
  }
  for (int i = 0; i < 20; ++i) EXPECT_EQ(exit_code_of([] { return every_unit_once(3) ? 0 : 1; }), 0);
  stop = true;
  for (auto& thread : application) thread.join();
}

TEST_F(TeamAndProcesses, ExitEndsIdleWorkers) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::alarm(60);
    every_unit_once(4);
    std::exit(every_unit_once(4) ? 0 : 1);  // runs destructors of static objects
  }
  int status = 0;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

// The bits of a signal mask in /proc/self/task/*/status, by the thread's name.
std::vector<unsigned long long> masks_of_workers() {
  std::vector<unsigned long long> masks;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream file(task.path() / "status");
    std::string name;
    unsigned long long blocked = 0;
    for (std::string line; std::getline(file, line);) {
      if (line.rfind("Name:\t", 0) == 0) name = line.substr(6);
      if (line.rfind("SigBlk:\t", 0) == 0) blocked = std::stoull(line.substr(8), nullptr, 16);
    }
    if (name == "fourtune") masks.push_back(blocked);
  }
  return masks;
}

TEST(Team, WorkersHaveANameAndLeaveSignalsToTheApplication) {
  ASSERT_TRUE(every_unit_once(4));
  const auto has = [](unsigned long long mask, int signal) { return (mask >> (signal - 1) & 1) != 0; };
  // A thread that has not started to run has every signal blocked.
  for (int tries = 0; tries < 200; ++tries) {
    const auto masks = masks_of_workers();
    if (std::none_of(masks.begin(), masks.end(), [&](auto mask) { return has(mask, SIGSEGV); })) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  const auto masks = masks_of_workers();
  for (const unsigned long long blocked : masks) {
    for (const int taken : {SIGINT, SIGTERM, SIGALRM, SIGCHLD, SIGUSR1}) EXPECT_TRUE(has(blocked, taken)) << taken;
    for (const int fault : {SIGSEGV, SIGFPE}) EXPECT_FALSE(has(blocked, fault)) << fault;
  }
  EXPECT_EQ(static_cast<int>(masks.size()), team_threads_made());
  EXPECT_GE(masks.size(), 1u);
}

// A caller that has not begun its second unit waits for the worker to begin it, and so does the worker.
TEST(Team, AWorkerTakesPart) {
  std::atomic<int> begun{0};
  std::set<std::thread::id> threads;
  std::mutex mutex;
  force_usable_threads(2);
  parallel_for(2, 2, [&](std::int64_t, int) {
    ++begun;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (begun < 2 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    const std::lock_guard lock(mutex);
    threads.insert(std::this_thread::get_id());
  });
  force_usable_threads(0);
  EXPECT_EQ(threads.size(), 2u);
}

TEST(Team, SizeIsWhatIsUsable) {
  force_usable_threads(3);
  EXPECT_EQ(team_size(1), 1);
  EXPECT_EQ(team_size(3), 3);
  EXPECT_EQ(team_size(4096), 3);
  EXPECT_EQ(team_size(0), 1);
  force_usable_threads(0);
  EXPECT_EQ(team_size(1 << 30), usable_threads());
}

}  // namespace
}  // namespace fourtune::runtime::cpu
