// Whether a sample shows the work or the machine's other load.
//
// A sample is disturbed when the operating system took a processor from this process while it ran (involuntary
// switches, getrusage) and that cost a good part of the sample. What it cost is asked where that disturbs no sample and
// Linux tells it: the time that a thread was ready and waited for a processor. Else it is guessed: the wall time that
// the measuring thread did not compute, although part of it may have been its own wait for the team, or a time slice
// for each switch of the others, although a kernel thread takes microseconds. The longer a sample, the more such
// switches are in it, on a quiet machine too, so that long ones are asked. Disturbed samples decide nothing; they are
// taken again while there is time.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace fourtune::tuner {

// How long a thread of this process was ready to run, and had no processor, since it began.
struct ThreadWait {
  int thread = 0;
  std::int64_t ns = 0;
};

// Differences of two of them are what a sample used.
struct Usage {
  std::int64_t wall_ns = 0;
  std::int64_t cpu_ns = 0;             // of the calling thread (RUSAGE_THREAD's clock)
  std::int64_t own_switches = 0;       // involuntary ones of the calling thread (RUSAGE_THREAD)
  std::int64_t team_switches = 0;      // involuntary ones of the whole process (RUSAGE_SELF)
  std::vector<ThreadWait> waits = {};  // of each thread, by its number; empty: not asked, or not told

  // Waits are those of all threads of `a`, if they are known of both.
  friend Usage operator-(const Usage& a, const Usage& b);
  bool disturbed() const;
};
using Probe = std::function<Usage()>;  // tests pass their own
// To be asked before and after each sample. Asks for waits, which takes microseconds per thread and would leave the
// caches of short samples cold, where the last sample, or what lay before it, was long.
Probe usage_probe();
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
