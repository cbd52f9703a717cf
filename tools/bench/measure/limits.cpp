#include "tools/bench/measure/limits.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <atomic>

#include "tools/bench/measure/memory.h"
#include "tools/common/device_arrays.h"
#include "tools/common/errors.h"

namespace fourtune::tools {
namespace {

std::atomic<bool> stop_requested{false};

}  // namespace

void check_clock(const BenchOptions& options, int threads, const runtime::Backend& backend) {
  if (options.cpu_time && (threads != 1 || !takes_host_arrays(backend)))
    throw UsageError("--cpu-time sees the calling thread only", "give --threads 1 with it, and --backend cpu");
}

void stop_on_signal() {
  struct sigaction action {};
  action.sa_handler = [](int) { stop_requested.store(true); };
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

std::string why_not(const Problem& problem, const BenchOptions& options, double spent) {
  if (stop_requested.load()) return "interrupted";
  if (options.seconds > 0 && spent > options.seconds) return "the budget of --seconds is spent";
  const std::int64_t points = std::max(problem.m.value_or(0), problem.k.value_or(0));
  if (options.max_points > 0 && points > options.max_points)
    return fmt::format("has {} points, more than --max-points", points);
  return {};
}

MeasureOptions measure_options(const BenchOptions& options, const runtime::Backend& backend, int min_rounds) {
  MeasureOptions measure;
  measure.backend = &backend;
  measure.device = options.device;
  measure.rounds = options.rounds;
  measure.min_rounds = min_rounds;
  measure.max_seconds = options.seconds_per_problem;
  measure.max_memory = options.max_memory > 0 ? static_cast<double>(options.max_memory) : 0.7 * available_memory();
  measure.seed = options.seed;
  measure.cpu_time = options.cpu_time;
  return measure;
}

}  // namespace fourtune::tools
