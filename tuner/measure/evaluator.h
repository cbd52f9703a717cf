// Measures plans; only this part of a tuning session touches a device. A session asks an Evaluator: LocalEvaluator
// (evaluate.h) works in this process, WorkerProcess (worker.h) passes each request on to a child process, which may
// crash or hang.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "db/records.h"
#include "fourtune/device_traits.h"
#include "fourtune/problem.h"
#include "tuner/measure/benchmark.h"
#include "tuner/measure/spent.h"

namespace fourtune::tuner {

// One plan to validate and time for the problem loaded last.
struct EvaluationRequest {
  std::string plan;    // text
  std::string wisdom;  // FFTW wisdom to start from; may be empty
  BenchmarkOptions benchmark;
  double incumbent_seconds = 0;  // race against this time; 0: measure to the end
  double timeout_seconds = 30;   // for planning, validation and timing together
  bool adjoint = false;          // tests the whole result and the adjoint, and takes no times
  bool energy = false;           // measures the energy of an execute, too
};

struct Evaluation {
  db::RunStatus status = db::RunStatus::ok;
  std::optional<double> error;           // relative l2 against the reference
  std::vector<std::int64_t> samples_ns;  // one value per sample: the time of one execute
  BusyCount busy;                        // of those samples and the ones that were left out because they were disturbed
  bool unsure = false;                   // too many were: the samples may say nothing about the plan
  bool raced_out = false;                // stopped early because it was clearly slower than the incumbent
  double set_points_seconds = 0;
  double plan_seconds = 0;          // time to bind, which includes the library's planning
  double cost_seconds = 0;          // duration of the whole evaluation, for budgets
  Spent spent;                      // what that time went to
  std::vector<db::StageNs> stages;  // of the last set_points and execute
  std::string wisdom;
  std::int64_t memory_bytes = 0;
  std::string kernels;           // GPUs: runtime::kernels_text
  std::string state;             // of the device after the samples: runtime::state_text; empty: it has no sensors
  int repeats = 0;               // how often the samples were taken again because the device's clocks were held down
  bool slowed = false;           // they still were at the last time
  std::optional<double> joules;  // of one execute
  std::string message;           // reason of a failure, for people
};

// A request to measure finalists in interleaved rounds: each round times every plan once, in a new random order.
struct FinalsRequest {
  std::vector<std::string> plans;
  std::vector<std::string> wisdom;  // one per plan, or empty
  BenchmarkOptions benchmark;
  double seconds = 2;  // stop after the round that reaches this, or twice this while disturbed rounds are repeated, ...
  int min_rounds = 7;  // ... but not before this many,
  int max_rounds = 60;  // and never after this many
  std::uint64_t seed = 1;
  double timeout_seconds = 60;
  bool energy = false;  // measures energies in rounds, too: energy_rounds of them
};
// As many as it takes for the ratio's interval to prove something (paired_ratio).
inline constexpr int energy_rounds = 6;
struct FinalsResult {
  db::RunStatus status = db::RunStatus::ok;
  std::string message;
  int culprit = -1;  // the plan that was running when the finals failed; -1: unknown
  // [plan][round], nanoseconds of one execute. A round in which a plan has only disturbed samples (usage.h) is not
  // here.
  std::vector<std::vector<std::int64_t>> samples_ns;
  BusyCount busy;                                    // of all samples, those of rounds that are not here too
  std::vector<std::vector<db::StageNs>> stages;      // [plan]
  std::vector<std::string> kernels;                  // [plan], as in Evaluation
  std::vector<std::vector<std::int64_t>> energy_nj;  // [plan][round], nanojoules of one execute
  std::string state;                                 // of the device after the rounds, as in Evaluation
  int repeats = 0;                                   // rounds that were left out because its clocks were held down
  bool slowed = false;                               // rounds that are here had such clocks
  double cost_seconds = 0;
  Spent spent;
};

class Evaluator {
 public:
  virtual ~Evaluator() = default;
  virtual DeviceTraits traits() = 0;
  // Generates the synthetic points, data and reference of a problem, which serve all evaluations until the next load.
  // Returns what the time of this went to. Throws Error when the problem cannot be set up here.
  // plans: those that will be evaluated first; as with prepare, their kernels can be compiled meanwhile.
  virtual Spent load(const Problem& problem, std::uint64_t seed, const std::vector<std::string>& plans = {}) = 0;
  // A hint that these plans will be evaluated soon, so that what they need can be compiled meanwhile. Returns at once
  // and never throws because of what a plan does.
  virtual void prepare(const std::vector<std::string>& plans) { (void)plans; }
  // Of these plans, the place of the first one that would not have to wait for what prepare began; 0 if there is none.
  virtual std::size_t first_ready(const std::vector<std::string>& plans) { return (void)plans, 0; }
  // The same as prepare for the first plans of the problem that is loaded next.
  virtual void announce(const Problem& next, const std::vector<std::string>& plans) { (void)next, (void)plans; }
  // Neither function throws because of what a plan does: failures become statuses. Status interrupted means that the
  // user's stop arrived meanwhile. They throw Error when nothing can be measured any more (no worker can be started).
  virtual Evaluation evaluate(const EvaluationRequest& request) = 0;
  virtual FinalsResult finals(const FinalsRequest& request) = 0;
  // The number of worker processes that had to be replaced so far.
  virtual std::size_t restarts() const { return 0; }
};

}  // namespace fourtune::tuner
