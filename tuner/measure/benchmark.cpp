#include "tuner/measure/benchmark.h"

#include <time.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

namespace fourtune::tuner {
namespace {

constexpr double hopeless_factor = 3;           // no noise seen makes a plan that could win so slow
constexpr std::size_t fewest_for_interval = 6;  // 2 * 2^-6 = 3 % < 5 %: fewer samples prove nothing at 95 %

// The rank r, counted from 0, for which [x_(r), x_(n-1-r)] of the sorted x covers the median with at least 95 %: the
// largest r with 2 P(Binomial(n, 1/2) <= r) <= 5 %. Precondition: n >= fewest_for_interval.
std::size_t interval_rank(std::size_t n) {
  const double size = static_cast<double>(n);
  double tail = 0, log_term = -size * std::log(2.0);  // log P(X = 0)
  for (std::size_t r = 0;; ++r) {
    tail += std::exp(log_term);
    if (2 * tail > 0.05) return r - 1;
    log_term += std::log((size - static_cast<double>(r)) / (static_cast<double>(r) + 1));
  }
}

template <class T>
double sorted_median(const std::vector<T>& sorted) {
  const std::size_t n = sorted.size();
  return n % 2 ? static_cast<double>(sorted[n / 2])
               : 0.5 * (static_cast<double>(sorted[n / 2 - 1]) + static_cast<double>(sorted[n / 2]));
}

// Writes a block that is larger than any relevant cache, all of it, so that the workload's data must leave the caches.
void push_out_caches() {
  static std::vector<unsigned char> block(std::size_t{256} << 20);
  static unsigned char value = 0;
  ++value;
  for (std::size_t i = 0; i < block.size(); i += 64) block[i] = value;
}

bool tight(const MedianInterval& interval, const BenchmarkOptions& options) {
  return interval.high - interval.low <= options.relative_interval * interval.median;
}

// True when even the fastest sample (or the low end of the interval) is above the incumbent's time by the margin.
bool surely_slower(const std::vector<std::int64_t>& samples, const BenchmarkOptions& options, double incumbent_ns) {
  if (incumbent_ns <= 0 || samples.size() < 2) return false;
  const double fastest = static_cast<double>(*std::min_element(samples.begin(), samples.end()));
  const double margin = samples.size() < 4 ? 1 + 4 * (options.race_margin - 1) : options.race_margin;
  return fastest > margin * incumbent_ns;
}

}  // namespace

MedianInterval median_interval(std::span<const std::int64_t> samples) {
  if (samples.empty()) return {};
  std::vector<std::int64_t> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  const std::size_t rank = sorted.size() < fewest_for_interval ? 0 : interval_rank(sorted.size());
  return {sorted_median(sorted), static_cast<double>(sorted[rank]),
          static_cast<double>(sorted[sorted.size() - 1 - rank])};
}

Clock wall_clock() {
  return [] {
    return static_cast<std::int64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
            .count());
  };
}

Clock thread_clock() {
  return [] {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
  };
}

Clock clock_of(const BenchmarkOptions& options) { return options.cpu_time ? thread_clock() : wall_clock(); }

std::int64_t sample(const Workload& work, int loops, const BenchmarkOptions& options, const Clock& clock,
                    const Probe& probe, bool* disturbed) {
  if (work.refresh) work.refresh();
  if (options.cold) push_out_caches();
  const Usage before = probe();
  const std::int64_t start = clock();
  double ns = 0;
  if (work.timed) {
    ns = work.timed(loops) * 1e9;
  } else {
    work.run(loops);
    ns = static_cast<double>(clock() - start);
  }
  if (disturbed) *disturbed = (probe() - before).disturbed();
  return std::max<std::int64_t>(1, std::llround(ns / loops));
}

Probe probe_of(const Workload& work, const BenchmarkOptions& options) {
  return work.timed || options.cpu_time ? usage_ignored : usage_probe();
}

int loops_for(std::int64_t ns, const BenchmarkOptions& options) {
  if (options.cold) return 1;
  const double loops = std::ceil(options.min_sample_seconds * 1e9 / static_cast<double>(std::max<std::int64_t>(ns, 1)));
  return static_cast<int>(std::clamp(loops, 1.0, 1e6));
}

int settled_loops(const Workload& work, const BenchmarkOptions& options, const Clock& clock, std::int64_t* last) {
  BenchmarkOptions warm = options;
  warm.cold = false;
  const auto wanted = [&](std::int64_t ns) { return std::min(loops_for(ns, options), work.most_loops); };
  int loops = 1;
  std::int64_t ns = sample(work, 1, warm, clock);
  for (int longer = 0; longer < 3 && wanted(ns) > loops; ++longer) {
    loops = wanted(ns);
    ns = sample(work, loops, warm, clock);
  }
  if (last) *last = ns;
  return loops;
}

BenchmarkResult benchmark(const Workload& work, const BenchmarkOptions& options, double incumbent_seconds,
                          const Clock& clock, const Probe& probe) {
  BenchmarkResult result;
  BenchmarkOptions warm = options;
  warm.cold = false;
  // The first execute pays for page faults and cold code, so the loop count comes from later ones.
  const std::int64_t first = sample(work, 1, warm, clock);
  const double incumbent_ns = incumbent_seconds * 1e9;
  std::int64_t settled = first;
  const Usage before = probe();
  result.loops = first < 1'000'000'000 ? settled_loops(work, options, clock, &settled) : 1;
  const bool settled_alone = !(probe() - before).disturbed();
  if (settled_alone && incumbent_ns > 0 && !options.cold &&
      static_cast<double>(settled) > hopeless_factor * incumbent_ns) {
    result.samples_ns.push_back(settled);
    result.raced_out = true;
    return result;
  }
  std::vector<std::int64_t> disturbed_ns;
  const std::int64_t start = clock();
  while (result.busy.samples < options.max_samples) {
    bool disturbed = false;
    const std::int64_t ns = sample(work, result.loops, options, clock, probe, &disturbed);
    (disturbed ? disturbed_ns : result.samples_ns).push_back(ns);
    result.busy.add(disturbed);
    const int count = static_cast<int>(result.samples_ns.size());
    if (surely_slower(result.samples_ns, options, incumbent_ns)) {
      result.raced_out = true;
      break;
    }
    if (result.busy.samples >= 2 && static_cast<double>(clock() - start) * 1e-9 >= options.max_seconds) break;
    if (count >= options.min_samples && tight(median_interval(result.samples_ns), options)) break;
  }
  result.unsure = result.samples_ns.size() < 2 && !disturbed_ns.empty();
  if (result.unsure) result.samples_ns.insert(result.samples_ns.end(), disturbed_ns.begin(), disturbed_ns.end());
  return result;
}

RatioInterval paired_ratio(std::span<const std::int64_t> a, std::span<const std::int64_t> b) {
  RatioInterval result;
  std::vector<double> ratios;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    ratios.push_back(static_cast<double>(b[i]) / static_cast<double>(a[i]));
  result.rounds = static_cast<int>(ratios.size());
  if (ratios.empty()) return {1, 0, std::numeric_limits<double>::infinity(), 0};
  std::sort(ratios.begin(), ratios.end());
  result.ratio = sorted_median(ratios);
  result.low = 0;
  result.high = std::numeric_limits<double>::infinity();
  if (ratios.size() >= fewest_for_interval) {
    const std::size_t rank = interval_rank(ratios.size());
    result.low = ratios[rank];
    result.high = ratios[ratios.size() - 1 - rank];
  }
  return result;
}

}  // namespace fourtune::tuner
