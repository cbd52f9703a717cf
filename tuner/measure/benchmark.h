// Times one executor, or compares several. Every interval is non-parametric: it assumes nothing about the distribution
// of the times, only that samples are exchangeable.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "tuner/measure/usage.h"

namespace fourtune::tuner {

struct BenchmarkOptions {
  double min_sample_seconds = 20e-6;  // samples repeat shorter executes, so that the clock's resolution is no matter
  double relative_interval = 0.02;    // sampling may stop when the median's relative interval is this narrow
  int min_samples = 5;                // and this many samples were taken,
  int max_samples = 200;
  double max_seconds = 1.0;     // or when the samples took this long (at least two are taken)
  double race_margin = 1.05;    // a plan is raced out when it is surely slower than the incumbent by this factor
  bool cold = false;            // push the data out of the caches before each sample (a sample is then one execute)
  double energy_seconds = 0.3;  // of counted work, where the energy of an execute is measured (energy.h)
  bool cpu_time = false;        // use CPU time of the calling thread, not the wall clock: for machines with other load
};

// A median and its interval of at least 95 % (from order statistics; with fewer than 6 samples, the extremes).
struct MedianInterval {
  double median = 0, low = 0, high = 0;
};
MedianInterval median_interval(std::span<const std::int64_t> samples);

// What is timed. run(n) executes n times. refresh() restores inputs that an in-place transform destroys; it is not
// timed.
struct Workload {
  std::function<void(int)> run;
  std::function<void()> refresh = {};     // may be empty
  std::function<double(int)> timed = {};  // returns device seconds of so many executes; if empty: run and the clock
  int most_loops = 1'000'000;             // upper limit of executes per sample
};
using Clock = std::function<std::int64_t()>;  // nanoseconds, monotonic; tests pass their own
Clock wall_clock();
Clock thread_clock();  // CPU time of the calling thread
Clock clock_of(const BenchmarkOptions& options);

// How disturbed samples are seen (usage.h): of a workload whose time is the wall clock's.
Probe probe_of(const Workload& work, const BenchmarkOptions& options);

struct BenchmarkResult {
  // One value per sample that was not disturbed: the time of one execute. Where fewer than two were not, all of them.
  std::vector<std::int64_t> samples_ns;
  BusyCount busy;
  bool unsure = false;  // fewer than two samples were not disturbed
  int loops = 1;        // executes per sample
  bool raced_out = false;
};
// Warms up with at least one execute, and until the length of one sample has passed, then samples until the options are
// met. With incumbent_seconds 0 there is no race. A plan of several times the incumbent's time is raced out by its
// first sample. Disturbed samples race no plan out, and are taken again within the same time.
BenchmarkResult benchmark(const Workload& work, const BenchmarkOptions& options, double incumbent_seconds,
                          const Clock& clock = wall_clock(), const Probe& probe = usage_ignored);

// Takes one sample of `loops` executes and returns the nanoseconds of one execute. Sets `disturbed`, if given.
std::int64_t sample(const Workload& work, int loops, const BenchmarkOptions& options, const Clock& clock,
                    const Probe& probe = usage_ignored, bool* disturbed = nullptr);
// The number of executes that fill min_sample_seconds when one takes `ns`.
int loops_for(std::int64_t ns, const BenchmarkOptions& options);
// The same number, found with samples of growing length, because the time of a single execute does not predict the time
// of many in a row. `ns`, if given, is set to the time of an execute in the longest of them.
int settled_loops(const Workload& work, const BenchmarkOptions& options, const Clock& clock,
                  std::int64_t* ns = nullptr);

// Ratio of b's time to a's from interleaved rounds: the median of the rounds' ratios and its interval of at least 95 %
// (order statistics of paired ratios, that is, the inverted sign test). Rounds beyond the shorter list are ignored.
struct RatioInterval {
  double ratio = 1, low = 0, high = 0;  // with fewer than 6 rounds: low is 0, high is infinite, and nothing is proved
  int rounds = 0;
};
RatioInterval paired_ratio(std::span<const std::int64_t> a, std::span<const std::int64_t> b);

}  // namespace fourtune::tuner
