// The session's main routine. Its parts: problem_tuning.cpp (one problem, step by step), finals.cpp (the decision),
// session_context.cpp (clock and database).
#include "tuner/session/session.h"

#include <cmath>

#include "tuner/measure/validate.h"
#include "tuner/session/problem_tuning.h"
#include "tuner/session/session_context.h"
#include "tuner/session/turns.h"

namespace fourtune::tuner {
namespace {

void check(const SessionOptions& options) {
  if (options.problems.empty()) throw Error(Status::invalid_option, "there is no problem to tune");
  if (!(options.seconds >= 0) || !std::isfinite(options.seconds))
    throw Error(Status::invalid_option, "seconds must be a finite number of at least 0 (0: no limit)");
  if (options.threads < 0) throw Error(Status::invalid_option, "threads must be at least 0 (0: all)");
  if (options.cpu_time && options.threads != 1)
    throw Error(Status::invalid_option, "cpu_time sees one thread only; threads must be 1 with it");
  if (options.objective == db::Objective::energy && (options.cpu_time || !options.record_folder.empty()))
    throw Error(Status::invalid_option, "the objective energy goes neither with cpu_time nor with a recording");
  if (!(options.candidate_timeout > 0)) throw Error(Status::invalid_option, "the candidate timeout must be above 0");
  if (!options.strategy.empty()) find_strategy(options.strategy);
  for (const Problem& problem : options.problems) validate(problem);
}

}  // namespace

Report run_session(const SessionOptions& options, db::TuningStore& store, Evaluator& evaluator) {
  // 1. Checks the options, opens the device and begins the session row.
  check(options);
  SessionContext context(options, store, evaluator);
  context.begin();

  // 2. Estimates the cost of each problem.
  std::vector<Problem> problems;
  std::vector<double> costs;
  for (const Problem& problem : options.problems) {
    problems.push_back(bound_problem(problem));
    costs.push_back(expected_cost(problems.back(), context));
  }

  // 3. Tunes the problems in turn, then again those that gain by it.
  take_turns(context, problems, costs);

  // 4. Ends the session row and computes totals.
  Report& report = context.report;
  report.interrupted = context.stopped();
  context.finish(report.interrupted ? db::SessionEnd::interrupted : db::SessionEnd::complete);
  for (const ProblemReport& problem : report.problems) {
    report.evaluations += problem.evaluations;
    report.failures += problem.failures;
  }
  report.worker_restarts = evaluator.restarts();
  report.elapsed = context.elapsed();
  return report;
}

}  // namespace fourtune::tuner
