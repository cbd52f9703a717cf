// Measures the contenders of one problem: same data, same process, interleaved.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "fourtune/problem.h"
#include "tools/bench/measure/contender.h"
#include "tuner/measure/benchmark.h"

namespace fourtune::tools {

// One launch of an execute, as its median over several.
struct PassResult {
  std::string stage, entry;
  double seconds = 0;
  double bytes = 0;  // that it has to move
  double flops = 0;
};

struct ContenderResult {
  std::string name;
  Role role = Role::peer;
  std::string plan;
  std::string variants;  // what the trial of several ways to run it saw
  std::string refusal;   // it refused at first and ran with an override
  std::string failure;   // it could not run at all; nothing below is then set
  double create_seconds = 0;
  double first_set_points_seconds = 0;      // may include planning
  std::vector<std::int64_t> set_points_ns;  // repeat calls
  std::vector<std::int64_t> execute_ns;     // one execute each, a round a sample
  std::vector<std::int64_t> total_ns;       // on a device: set_points and execute
  std::vector<std::int64_t> transfers_ns;   // and the copies of points and input there and of the output back
  tuner::MedianInterval set_points, execute, total, transfers;
  double error = std::numeric_limits<double>::quiet_NaN();  // relative l2 on sampled outputs
  bool right = false;                                       // error <= allowed_error(problem)
  // Host: peak of a process of its own above its data. Device: what is less free once it has executed. 0: unknown.
  std::int64_t memory = 0;
  std::int64_t code = 0;  // host: of that, pages of programs and libraries
  // Create, set_points and execute: in that process; on a device the first time in this one. 0: unknown.
  std::int64_t first_use_ns = 0;
  std::vector<StageTime> stages;
  std::vector<PassResult> passes;  // on a device
  bool ran() const { return failure.empty() && !execute_ns.empty(); }
};

struct ProblemResult {
  Problem problem;
  std::string token;
  std::string skipped;  // why nothing was measured; empty: it was
  std::vector<ContenderResult> contenders;
  double seconds = 0;         // that the whole measurement took
  int sets = 1;               // of arrays, used in turn
  double copy_bandwidth = 0;  // on a device: bytes a second, read and written, of copies of the arrays; 0: not measured
  double peak_flops = 0;      // on a device: multiply-adds a second, each two operations, by its traits
};

struct MeasureOptions {
  const runtime::Backend* backend = nullptr;  // null: cpu
  int device = 0;                             // of the backend
  int rounds = 9;
  int min_rounds = 3;
  int set_points_rounds = 3;
  double max_seconds = 60;  // spent on timed calls; a problem that cannot have min_rounds in it is skipped
  double max_memory = 0;    // bytes for data and all contenders; 0: no limit
  std::uint64_t seed = 1;
  bool cpu_time = false;  // time by the CPU time of this thread; only for contenders with one thread
};

// `problem` must be bound (tuner::bound_problem). A contender that throws is a failure of that contender. Problems that
// need more memory or time than allowed are returned as skipped.
ProblemResult measure_problem(const Problem& problem, const std::vector<Entrant>& entrants,
                              const MeasureOptions& options);

}  // namespace fourtune::tools
