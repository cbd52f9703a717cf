// A tuning session: it takes problems and a budget and writes verdicts to the database. Start reading the tuner in
// session.cpp. speed.cpp and step.cpp have the functions of units and names below.
//
// Promises
// 1. Every measurement is recorded in the database before the next one starts. Killing the process at any instant loses
//    at most the one in flight.
// 2. A candidate's failure is recorded as a row. A crash or a hang costs the worker process, not the session.
// 3. Only a plan whose result was right wins. Finalists, including the incumbent, are validated again, because a
//    database may be damaged; a plan that is wrong is withdrawn and not served again. A winner replaces the incumbent
//    only if the difference exceeds the noise of interleaved rounds.
// 4. The plan that would run untuned is always measured. For ffts so is FFTW's plan: it is planned up to three times
//    (its planner is noisy) and is always a finalist.
// 5. A rerun skips every (problem, plan, environment) that is finished and continues the search.
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
#include "tuner/session/planning.h"

namespace fourtune::tuner {

enum class Step { prepare, untuned, search, finals, done };
const char* to_string(Step) noexcept;

// The state of the session; all times in seconds. Sent after each evaluation and at each change of step.
struct Progress {
  std::size_t problem = 0;  // index, from 0
  std::size_t problems = 0;
  std::string token;
  Step step = Step::prepare;
  std::size_t candidates = 0;                // of this problem's space
  std::size_t evaluations = 0;               // of this problem, in this session
  std::size_t reused = 0;                    // taken from earlier sessions instead of measured
  std::size_t failures = 0;                  // of this problem, in this session
  std::string plan;                          // the plan measured last
  db::RunStatus status = db::RunStatus::ok;  // status of `plan`
  double best_seconds = 0;                   // time of the best execute so far; 0: none yet
  double untuned_seconds = 0;                // time of an execute of the untuned default; 0: not measured yet
  double elapsed = 0;                        // of the session
  double eta = 0;                            // until the session's end
};

// A step of a session and what its time went to: setting up a problem (no plan), measuring a plan, the finals (no
// plan).
struct Trace {
  double at = 0;  // seconds of the session at the step's end
  std::string problem;
  Step step = Step::prepare;
  std::string plan;
  db::RunStatus status = db::RunStatus::ok;
  double seconds = 0;  // of one execute of the plan; 0: failed, or no plan
  Spent spent;
  std::string message;  // why it failed
};

struct SessionOptions {
  std::vector<Problem> problems;  // absent m and k mean density 1
  double seconds = 60;   // the session's budget, split by the problems' expected cost; 0: each search runs to its end
  int threads = 0;       // the most threads that a plan may use; 0: all of the device's
  std::string strategy;  // the name of a strategy (search.h); empty: chosen by the size of the space
  db::Objective objective = db::Objective::time;  // energy needs a device with sensors
  bool cpu_time = false;                          // judge plans by the thread's CPU time; needs threads = 1
  std::uint64_t seed = 1;                         // seed of points, searches and interleaving
  std::string command;                            // as the user typed it, kept in the database
  double candidate_timeout = 30;                  // time limit of a candidate in seconds, including planning
  std::size_t max_evaluations = 0;                // per problem; 0: as many as the budget allows
  bool measure_everything = false;  // record mode: measures all candidates to the end; no racing, finals or verdict
  // If not empty, this also selects record mode, and each problem's space is written to this folder as one file
  // (replay.h).
  std::string record_folder;
  const std::atomic<bool>* stop = nullptr;  // set this (in a signal handler, say) to end early and keep all results
  std::function<void(const Progress&)> progress;  // called on the session's thread
  std::function<void(const Trace&)> trace;        // likewise, after each step
  std::shared_ptr<const Planning> planning;       // null: of the plans of one process
  // These replace generator::candidates, default_plan and floor_seconds in tests.
  std::function<generator::Space(const Problem&, const DeviceTraits&)> list_candidates;
  std::function<generator::Plan(const Problem&, const DeviceTraits&)> untuned_plan;
  std::function<double(const generator::Plan&, const Problem&, const DeviceTraits&)> floor_seconds;
};

// A plan that was right, when it was measured, and what the search judged it by: seconds or joules of one execute.
struct Measured {
  double at = 0;  // seconds of the problem's turns
  std::string plan;
  double judged = 0;
};

// The result of a session for one problem. Times are seconds of one execute (the whole batch).
struct ProblemReport {
  std::string problem;       // token
  std::string winner;        // plan text; empty: no plan gave a right result, see note
  double seconds = 0;        // median; from the interleaved rounds if there were any
  double low = 0, high = 0;  // its 95 % interval
  double set_points_seconds = 0;
  double speed = 0;             // see speed_unit
  std::string speed_unit;       // "Mpts/s" (nufft: points of all transforms of the batch) or "GFLOP/s" (5 N log2 N)
  std::optional<double> error;  // relative l2 against the reference
  std::string untuned;          // the plan that would have run untuned
  double untuned_seconds = 0;   // 0: it failed
  // The plan that a transform would have taken before this session, by the database and by packs: that of another
  // problem, adapted, say. Where they had none it is the untuned one.
  std::string served;
  double served_seconds = 0;                     // 0: it failed
  bool tuned_before = false;                     // an earlier session had a winner for this very problem
  double gain = 1, gain_low = 1, gain_high = 1;  // untuned / winner, with its 95 % interval
  std::string replaced;                          // the incumbent's plan if this session replaced it, else empty
  bool new_verdict = false;                      // false: the incumbent stays
  std::size_t candidates = 0, evaluations = 0, reused = 0, failures = 0;
  double elapsed = 0;
  Spent spent;                                   // what that time went to
  std::optional<double> joules, untuned_joules;  // of one execute, where energy is the objective
  std::size_t repeats = 0;  // measurements taken again because the device's clocks were held down (device_sensors.h)
  std::size_t slowed = 0;   // plans and finals for which that did not help
  BusyCount busy;           // samples, and those during which this machine did other work (usage.h)
  std::vector<Measured> course;  // of all turns, in order
  bool undecided = false;        // it was too busy for the finals to decide: there is no new winner, see note
  std::string note;              // anything the user should know
};

// The beginning of a warning in a report: a measurement could not be stored.
inline constexpr const char* not_stored_mark = "not stored: ";

struct Report {
  std::vector<ProblemReport> problems;
  bool interrupted = false;
  double elapsed = 0;
  std::size_t evaluations = 0, failures = 0, worker_restarts = 0;
  std::vector<std::string> warnings;  // for example that the database could not be written
};

// Runs the session on the evaluator's device. The store must be open for writing; if it stops accepting rows, the
// session continues without it and says so in warnings. Throws Error for unusable options (invalid_option,
// invalid_problem) and when no worker can be started. Later failures are in the report.
Report run_session(const SessionOptions& options, db::TuningStore& store, Evaluator& evaluator);

// The work of one execute (the whole batch): points, or 5 N log2 N operations for an fft.
double work_of(const Problem& problem);
std::string speed_unit_of(const Problem& problem);
// work / seconds in that unit.
double speed_of(const Problem& problem, double seconds);

}  // namespace fourtune::tuner
