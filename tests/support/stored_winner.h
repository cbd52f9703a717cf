// A winner in a tuning database, as a session of the tuner leaves it.
#pragma once

#include <cstdint>
#include <string>

#include "db/tuning_store.h"

namespace fourtune::test {

// A right run of the plan that took this time.
inline db::Run right_run(const std::string& problem, const std::string& plan, std::int64_t ns = 1000) {
  db::Run run;
  run.problem = problem, run.plan = plan, run.samples_ns = {ns};
  return run;
}

// Records a whole session: the run, and the verdict that its plan has won.
inline db::VerdictId store_winner(db::TuningStore& store, const db::Environment& environment, const db::Run& run,
                                  const std::string& validity = {}) {
  db::SessionStart start;
  start.environment = environment;
  const db::SessionId session = store.begin_session(start);
  store.record_run(session, run);
  db::Verdict verdict;
  verdict.problem = run.problem, verdict.plan = run.plan, verdict.validity = validity;
  verdict.winner_ns = static_cast<double>(run.samples_ns.at(0));
  const db::VerdictId id = store.record_verdict(session, verdict);
  store.finish_session(session, db::SessionEnd::complete);
  return id;
}

}  // namespace fourtune::test
