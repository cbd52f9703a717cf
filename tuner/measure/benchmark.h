// Times one executor, and compares several. Every interval is non-parametric: nothing is assumed about how times
// scatter, only that samples are exchangeable.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace fourtune::tuner {

struct BenchmarkOptions {
  double min_sample_seconds =
      20e-6;                        // shorter executes are looped inside a sample so that the clock's grain is nothing
  double relative_interval = 0.02;  // enough when the median's interval is this narrow, relative to the median,
  int min_samples = 5;              // after so many samples,
  int max_samples = 200;
  double max_seconds = 1.0;   // or when this much has been spent on samples (at least two are taken)
  double race_margin = 1.05;  // raced out when surely slower than the incumbent by this factor
  bool cold = false;          // push the data out of the caches before each sample (then one execute a sample)
  bool cpu_time = false;      // of the calling thread instead of the wall clock: for machines that are busy with others
};

// A median and its interval of at least 95 % (order statistics; with fewer than 6 samples: the extremes).
struct MedianInterval {
  double median = 0, low = 0, high = 0;
};
MedianInterval median_interval(std::span<const std::int64_t> samples);

// What is timed. run(n) executes n times; refresh() restores inputs that an in-place transform destroys, untimed.
struct Workload {
  std::function<void(int)> run;
  std::function<void()> refresh = {};     // may be empty
  std::function<double(int)> timed = {};  // runs so often and tells the device's seconds; empty: run and the clock
  int most_loops = 1'000'000;             // executes in a sample, at most
};
using Clock = std::function<std::int64_t()>;  // nanoseconds, monotonic; tests bring their own
Clock wall_clock();
Clock thread_clock();  // CPU time of the calling thread
Clock clock_of(const BenchmarkOptions& options);

struct BenchmarkResult {
  std::vector<std::int64_t> samples_ns;  // of one execute each
  int loops = 1;                         // executes in a sample
  bool raced_out = false;
};
// Warms up (once, and on until a sample's worth is done), then samples until options are met. incumbent_seconds 0: no
// race.
BenchmarkResult benchmark(const Workload& work, const BenchmarkOptions& options, double incumbent_seconds,
                          const Clock& clock = wall_clock());

// One sample of `loops` executes, nanoseconds of one.
std::int64_t sample(const Workload& work, int loops, const BenchmarkOptions& options, const Clock& clock);
// Executes needed for min_sample_seconds when one takes `ns`.
int loops_for(std::int64_t ns, const BenchmarkOptions& options);
// The same, found by samples that grow: a single execute is no measure of many in a row.
int settled_loops(const Workload& work, const BenchmarkOptions& options, const Clock& clock);

// Ratio of b's to a's time from interleaved rounds: median of the rounds' ratios and its interval of at least 95 %
// (order statistics of paired ratios, which is the sign test inverted). Rounds beyond the shorter list are ignored.
struct RatioInterval {
  double ratio = 1, low = 0, high = 0;  // with fewer than 6 rounds: low 0, high infinite, nothing is proved
  int rounds = 0;
};
RatioInterval paired_ratio(std::span<const std::int64_t> a, std::span<const std::int64_t> b);

}  // namespace fourtune::tuner
