#include "tuner/measure/usage.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace fourtune::tuner {
namespace {

// A sample may lose this part of its time before it counts as disturbed: kernel threads interrupt quiet machines too,
// a few times in a second and for microseconds.
constexpr double kMostLost = 0.05;
// What an involuntary switch costs at least where another program computes: the shortest slice of Linux's scheduler.
constexpr std::int64_t kSliceNs = 750'000;
// Samples from here on are asked what they waited.
constexpr std::int64_t kLongNs = 2'000'000;

std::int64_t nanoseconds(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

std::int64_t involuntary_switches(int who) {
  rusage usage{};
  getrusage(who, &usage);
  return usage.ru_nivcsw;
}

// From the times computed and waited, in nanoseconds, and the number of turns that a thread's schedstat has.
std::vector<ThreadWait> waits_now() {
  std::vector<ThreadWait> waits;
  DIR* const tasks = opendir("/proc/self/task");
  if (tasks == nullptr) return waits;
  while (const dirent* entry = readdir(tasks)) {
    const int thread = std::atoi(entry->d_name);
    if (thread <= 0) continue;
    const std::string path = fmt::format("{}/schedstat", entry->d_name);
    const int file = openat(dirfd(tasks), path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) continue;
    char text[96] = {};
    const ssize_t length = read(file, text, sizeof text - 1);
    close(file);
    std::int64_t computed = 0, waited = 0;
    if (length > 0 && std::sscanf(text, "%" SCNd64 " %" SCNd64, &computed, &waited) == 2)
      waits.push_back({thread, waited});
  }
  closedir(tasks);
  std::sort(waits.begin(), waits.end(), [](const auto& a, const auto& b) { return a.thread < b.thread; });
  return waits;
}

}  // namespace

Usage operator-(const Usage& a, const Usage& b) {
  Usage used{a.wall_ns - b.wall_ns,
             a.cpu_ns - b.cpu_ns,
             a.own_switches - b.own_switches,
             a.team_switches - b.team_switches,
             {}};
  if (a.waits.empty() || b.waits.empty()) return used;
  used.waits = a.waits;
  auto before = b.waits.begin();
  for (ThreadWait& wait : used.waits) {
    while (before != b.waits.end() && before->thread < wait.thread) ++before;
    if (before != b.waits.end() && before->thread == wait.thread) wait.ns -= before->ns;
  }
  return used;
}

bool Usage::disturbed() const {
  const double allowed = kMostLost * static_cast<double>(wall_ns);
  const bool own = own_switches > 0 && static_cast<double>(wall_ns - cpu_ns) > allowed;
  const bool others = static_cast<double>((team_switches - own_switches) * kSliceNs) > allowed;
  if (!own && !others) return false;
  // A team is as late as its latest thread.
  return waits.empty() || std::any_of(waits.begin(), waits.end(),
                                      [&](const ThreadWait& wait) { return static_cast<double>(wait.ns) > allowed; });
}

Probe usage_probe() {
  return [last = std::int64_t{0}, was_long = false]() mutable {
    Usage usage{nanoseconds(CLOCK_MONOTONIC),
                nanoseconds(CLOCK_THREAD_CPUTIME_ID),
                involuntary_switches(RUSAGE_THREAD),
                involuntary_switches(RUSAGE_SELF),
                {}};
    const bool is_long = last != 0 && usage.wall_ns - last >= kLongNs;
    if (is_long || was_long) usage.waits = waits_now();
    was_long = is_long;
    last = usage.wall_ns;
    return usage;
  };
}

Usage usage_ignored() { return {}; }

std::string BusyCount::text() const {
  const double share = samples > 0 ? static_cast<double>(disturbed) / static_cast<double>(samples) : 0;
  return fmt::format("this machine was busy in {:.0f} % of samples", std::ceil(100 * share));
}

}  // namespace fourtune::tuner
