// Measures the contenders of one problem: with the same data, in the same process, interleaved.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "fourtune/problem.h"
#include "tools/bench/measure/contender.h"
#include "tuner/measure/benchmark.h"

namespace fourtune::tools {

// One launch of an execute; times are medians over several executes.
struct PassResult {
  std::string stage, entry;
  double seconds = 0;
  double bytes = 0;  // that the launch has to move
  double flops = 0;
};

struct ContenderResult {
  std::string name;
  Role role = Role::peer;
  std::string plan;
  std::string variants;  // results of the trial of several variants
  std::string refusal;   // why it refused at first, if it ran with an override
  std::string failure;   // why it could not run at all; the fields below are then not set
  double create_seconds = 0;
  double first_set_points_seconds = 0;      // may include planning
  std::vector<std::int64_t> set_points_ns;  // of repeated calls
  std::vector<std::int64_t> execute_ns;     // one sample per round: the time of one execute
  std::vector<std::int64_t> total_ns;       // on a device: set_points and execute
  std::vector<std::int64_t> transfers_ns;   // the same and the copies of points and input there and output back
  tuner::MedianInterval set_points, execute, total, transfers;
  double error = std::numeric_limits<double>::quiet_NaN();  // relative l2 on sampled outputs
  bool right = false;                                       // error <= allowed_error(problem)
  // Host: the peak of a separate process, above its data. Device: the loss of free memory by an execute. 0: unknown.
  std::int64_t memory = 0;
  std::int64_t code = 0;  // host: the part of `memory` that is pages of programs and libraries
  // Time of create, set_points and execute in that process; on a device, the first time in this one. 0: unknown.
  std::int64_t first_use_ns = 0;
  tuner::BusyCount busy;  // samples of execute on a host; disturbed ones are not among execute_ns (usage.h)
  bool too_busy = false;  // too few were not disturbed, so execute_ns has all, and they count nowhere
  std::vector<StageTime> stages;
  std::vector<PassResult> passes;  // on a device
  bool ran() const { return failure.empty() && !execute_ns.empty(); }
};

struct ProblemResult {
  Problem problem;
  std::string token;
  std::string skipped;  // why nothing was measured; empty if it was measured
  std::vector<ContenderResult> contenders;
  double seconds = 0;         // duration of the whole measurement
  int sets = 1;               // number of sets of arrays, used in turn
  double copy_bandwidth = 0;  // on a device: bytes per second, reads and writes, of array copies; 0: not measured
  double peak_flops = 0;      // on a device: operations per second from its traits; a multiply-add counts as two
};

// Returns when no other thread of this process computes, or after 60 ms: threads of a library may wait awake for
// milliseconds after a call, as those of libgomp do, and would take a core from the contender that comes next.
// computed() is the processor time of the process so far, and nap() sleeps for 2 ms.
void until_idle(const std::function<std::chrono::nanoseconds()>& computed, const std::function<void()>& nap);
void until_idle();

struct MeasureOptions {
  const runtime::Backend* backend = nullptr;  // null: cpu
  int device = 0;                             // a device number of the backend
  int rounds = 9;
  int min_rounds = 3;
  int set_points_rounds = 9;
  double max_seconds = 60;  // for timed calls; a problem that cannot have min_rounds rounds in this time is skipped
  double max_memory = 0;    // bytes for data and all contenders; 0: no limit
  std::uint64_t seed = 1;
  bool cpu_time = false;                      // measure CPU time of this thread; only for contenders with one thread
  tuner::Clock clock = tuner::wall_clock();   // of the host; tests pass another clock and probe
  tuner::Probe probe = tuner::usage_probe();  // sees disturbed samples of transforms on the host
  std::function<void()> wait_idle = [] { until_idle(); };  // called on the host before the calls of each sample
};

// `problem` must be bound (tuner::bound_problem). An exception of a contender counts as its failure. Problems that need
// more memory or time than allowed are returned as skipped.
ProblemResult measure_problem(const Problem& problem, const std::vector<Entrant>& entrants,
                              const MeasureOptions& options);

}  // namespace fourtune::tools
