#include "tuner/calibrate/rate_test.h"

#include <fmt/format.h>

#include "fourtune/status.h"

namespace fourtune::tuner {

void expect_right(bool right, const char* what) {
  if (!right) throw Error(Status::internal, fmt::format("this device computes wrong {}", what));
}

std::optional<MeasuredRate> measure_rate(const RateTest& test, bool is_time, double seconds, const Clock& clock,
                                         const Probe& probe, BusyCount& busy) {
  if (test.check) test.check();
  BenchmarkOptions options;
  options.min_sample_seconds = 3e-4;  // long against a clock's steps, short against a time slice
  options.relative_interval = 0.01;
  options.min_samples = 25;
  options.max_seconds = seconds;
  const BenchmarkResult result = benchmark(test.work, options, 0, clock, probe);
  busy += result.busy;
  if (result.unsure) return std::nullopt;
  const MedianInterval interval = median_interval(result.samples_ns);
  const double median = interval.median * 1e-9;
  return MeasuredRate{is_time ? median / test.amount : test.amount / median,
                      (interval.high - interval.low) / (2 * interval.median)};
}

}  // namespace fourtune::tuner
