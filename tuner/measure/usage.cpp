#include "tuner/measure/usage.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <time.h>

#include <cmath>

namespace fourtune::tuner {
namespace {

// A sample may lose this part of its time before it counts as disturbed: kernel threads interrupt quiet machines too,
// a few times in a second and for microseconds.
constexpr double kMostLost = 0.05;
// What an involuntary switch costs at least where another program computes: the shortest slice of Linux's scheduler.
constexpr std::int64_t kSliceNs = 750'000;

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

}  // namespace

bool Usage::disturbed() const {
  const double allowed = kMostLost * static_cast<double>(wall_ns);
  if (own_switches > 0 && static_cast<double>(wall_ns - cpu_ns) > allowed) return true;
  return static_cast<double>((team_switches - own_switches) * kSliceNs) > allowed;
}

Usage usage_now() {
  return {nanoseconds(CLOCK_MONOTONIC), nanoseconds(CLOCK_THREAD_CPUTIME_ID), involuntary_switches(RUSAGE_THREAD),
          involuntary_switches(RUSAGE_SELF)};
}

Usage usage_ignored() { return {}; }

std::string BusyCount::text() const {
  const double share = samples > 0 ? static_cast<double>(disturbed) / static_cast<double>(samples) : 0;
  return fmt::format("this machine was busy in {:.0f} % of samples", std::ceil(100 * share));
}

}  // namespace fourtune::tuner
