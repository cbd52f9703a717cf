// A tuning session: problems and a budget in, verdicts in the database out. Start reading the tuner in session.cpp.
//
// Promises
// 1. Every measurement is recorded in the database before the next one starts; killing the process at any instant loses
//    at most the one in flight.
// 2. A candidate's failure is a row. A crash or a hang costs the worker process, not the session.
// 3. Only a plan whose result was right wins: finalists are looked at again, the incumbent too, since a database may be
//    damaged. One that is wrong is withdrawn and not served again. A winner replaces the incumbent only by more than
//    the noise of interleaved rounds.
// 4. The plan that would run untuned is always measured; for ffts so is FFTW's own plan, planned up to three times (its
//    planner is noisy) and always a finalist.
// 5. A rerun skips every (problem, plan, environment) that is finished and goes on searching.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "db/tuning_store.h"
#include "fourtune/problem.h"
#include "generator/candidates.h"
#include "tuner/measure/evaluator.h"

namespace fourtune::tuner {

enum class Step { prepare, untuned, search, finals, done };
const char* to_string(Step) noexcept;

// Where the session is; all times in seconds. Sent after each evaluation and at each change of step.
struct Progress {
  std::size_t problem = 0;  // index, from 0
  std::size_t problems = 0;
  std::string token;
  Step step = Step::prepare;
  std::size_t candidates = 0;                // of this problem's space
  std::size_t evaluations = 0;               // of this problem, in this session
  std::size_t reused = 0;                    // taken from earlier sessions instead of measured
  std::size_t failures = 0;                  // of this problem, in this session
  std::string plan;                          // measured last
  db::RunStatus status = db::RunStatus::ok;  // of that
  double best_seconds = 0;                   // best execute so far; 0: none yet
  double untuned_seconds = 0;                // execute of the untuned default; 0: not measured yet
  double elapsed = 0;                        // of the session
  double eta = 0;                            // until the session's end
};

struct SessionOptions {
  std::vector<Problem> problems;    // m and k absent: density 1
  double seconds = 60;              // budget of the session, split over the problems by what they are expected to cost;
                                    // 0: no limit, each search runs to its end
  int threads = 0;                  // most threads a plan may use; 0: all of the device's
  std::string strategy;             // a name of search.h; empty: chosen by the size of the space
  bool cpu_time = false;            // judge plans by the thread's CPU time; needs threads = 1
  std::uint64_t seed = 1;           // of points, searches and interleaving
  std::string command;              // as the user typed it, kept in the database
  double candidate_timeout = 30;    // seconds a candidate may take, planning included
  std::size_t max_evaluations = 0;  // of one problem; 0: as the budget allows
  bool measure_everything = false;  // record mode: every candidate in turn to the end, no racing, no finals, no verdict
  // Record mode too when not empty; each problem's space is then written to this folder as one file (replay.h).
  std::string record_folder;
  const std::atomic<bool>* stop = nullptr;  // raise it (from a signal handler, say) to end early and keep everything
  std::function<void(const Progress&)> progress;  // called on the session's thread
  // Replace generator::candidates, default_plan and floor_seconds in tests.
  std::function<generator::Space(const Problem&, const DeviceTraits&)> list_candidates;
  std::function<generator::Plan(const Problem&, const DeviceTraits&)> untuned_plan;
  std::function<double(const generator::Plan&, const Problem&, const DeviceTraits&)> floor_seconds;
};

// What a session found out about one problem. Times are seconds of one execute (the whole batch).
struct ProblemReport {
  std::string problem;       // token
  std::string winner;        // plan text; empty: nothing gave a right result, see note
  double seconds = 0;        // median; of the interleaved rounds if there were any
  double low = 0, high = 0;  // its 95 % interval
  double set_points_seconds = 0;
  double speed = 0;             // see speed_unit
  std::string speed_unit;       // "Mpts/s" (nufft: points of all transforms of the batch) or "GFLOP/s" (5 N log2 N)
  std::optional<double> error;  // relative l2 against the reference
  std::string untuned;          // the plan that would have run untuned
  double untuned_seconds = 0;   // 0: it failed
  double gain = 1, gain_low = 1, gain_high = 1;  // untuned / winner, with its 95 % interval
  std::string replaced;                          // the incumbent's plan if this session replaced it, else empty
  bool new_verdict = false;                      // false: the incumbent stays
  std::size_t candidates = 0, evaluations = 0, reused = 0, failures = 0;
  double elapsed = 0;
  std::string note;  // anything the user should know
};

// Begins a warning of a report: something measured could not be kept.
inline constexpr const char* not_stored_mark = "not stored: ";

struct Report {
  std::vector<ProblemReport> problems;
  bool interrupted = false;
  double elapsed = 0;
  std::size_t evaluations = 0, failures = 0, worker_restarts = 0;
  std::vector<std::string> warnings;  // the database could not be written, ...
};

// Runs the session on the evaluator's device. The store must be open for writing; when it stops taking rows, the
// session goes on without it and says so in warnings. Throws Error for unusable options (invalid_option,
// invalid_problem) and when no worker can be started; anything later is in the report.
Report run_session(const SessionOptions& options, db::TuningStore& store, Evaluator& evaluator);

// Points, or 5 N log2 N operations for an fft, that one execute handles (the whole batch).
double work_of(const Problem& problem);
std::string speed_unit_of(const Problem& problem);
// work / seconds in that unit.
double speed_of(const Problem& problem, double seconds);

}  // namespace fourtune::tuner
