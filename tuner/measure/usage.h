// Whether a sample shows the work or the machine's other load.
//
// A sample is disturbed when the operating system took a processor from this process while it ran (involuntary
// switches, getrusage) and that cost a good part of the sample: the wall time that the measuring thread did not
// compute, or a time slice for each switch, since the other threads of a team cannot be asked singly. Disturbed samples
// decide nothing; they are taken again while there is time.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace fourtune::tuner {

// Differences of two of them are what a sample used.
struct Usage {
  std::int64_t wall_ns = 0;
  std::int64_t cpu_ns = 0;         // of the calling thread (RUSAGE_THREAD's clock)
  std::int64_t own_switches = 0;   // involuntary ones of the calling thread (RUSAGE_THREAD)
  std::int64_t team_switches = 0;  // involuntary ones of the whole process (RUSAGE_SELF)

  friend Usage operator-(const Usage& a, const Usage& b) {
    return {a.wall_ns - b.wall_ns, a.cpu_ns - b.cpu_ns, a.own_switches - b.own_switches,
            a.team_switches - b.team_switches};
  }
  bool disturbed() const;
};
using Probe = std::function<Usage()>;  // tests pass their own
Usage usage_now();
// Sees no disturbance: for times of devices and CPU times, which other load does not lengthen.
Usage usage_ignored();

// Samples that were taken, and how many of them were disturbed.
struct BusyCount {
  std::int64_t samples = 0, disturbed = 0;

  void add(bool is_disturbed) { ++samples, disturbed += is_disturbed; }
  BusyCount& operator+=(const BusyCount& other) {
    samples += other.samples, disturbed += other.disturbed;
    return *this;
  }
  // Whether it is so much that people should know: one sample in ten.
  bool matters() const { return disturbed > 0 && 10 * disturbed >= samples; }
  // "this machine was busy in 41 % of samples"
  std::string text() const;
  friend bool operator==(const BusyCount&, const BusyCount&) = default;
};

}  // namespace fourtune::tuner
