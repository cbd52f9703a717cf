#include "tuner/session/session_context.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace fourtune::tuner {

SessionContext::SessionContext(const SessionOptions& session_options, db::TuningStore& session_store,
                               Evaluator& session_evaluator)
    : options(session_options),
      store(session_store),
      evaluator(session_evaluator),
      traits(session_evaluator.traits()),
      planning(session_options.planning ? session_options.planning : planning_of_one_process(session_options, traits)),
      environment(planning->environment()) {
  if (options.threads > 0) traits.cores = std::min(traits.cores, options.threads);
}

double SessionContext::elapsed() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

double SessionContext::left() const {
  return options.seconds > 0 ? std::max(0.0, options.seconds - elapsed()) : std::numeric_limits<double>::infinity();
}

void SessionContext::guarded(const std::function<void()>& write) {
  try {
    write();
  } catch (const Error& error) {
    warn(not_stored_mark + std::string(error.what()));
  }
}

void SessionContext::warn(const std::string& warning) {
  if (std::find(report.warnings.begin(), report.warnings.end(), warning) == report.warnings.end())
    report.warnings.push_back(warning);
}

void SessionContext::begin() {
  guarded([&] {
    if (const db::Damage damage = store.damage(); damage.any())
      warn(fmt::format("tuning database '{}' is damaged: {}; these rows are passed over", store.path().string(),
                       damage.text()));
  });
  guarded([&] {
    const std::string strategy = options.strategy.empty() ? "default" : options.strategy;
    id_ = store.begin_session({environment, options.seed, strategy, options.seconds, options.command});
  });
}

void SessionContext::record(const db::Run& run) {
  if (id_) guarded([&] { store.record_run(*id_, run); });
  clock.lap(Task::store);
}
void SessionContext::record(const db::Verdict& verdict) {
  if (id_) guarded([&] { store.record_verdict(*id_, verdict); });
  clock.lap(Task::store);
}
void SessionContext::withdraw(db::VerdictId verdict, const std::string& reason) {
  if (id_) guarded([&] { store.withdraw_verdict(verdict, reason); });
}
Spent SessionContext::end_step(Trace step) {
  step.spent = clock.take();
  step.at = std::chrono::duration<double>(clock.noted_until() - start_).count();
  if (options.trace) options.trace(step);
  return step.spent;
}

void SessionContext::finish(db::SessionEnd end) {
  if (id_) guarded([&] { store.finish_session(*id_, end); });
  if (store.repaired())
    warn(
        fmt::format("tuning database '{}' was damaged: its indices did not fit its rows and were made again; what this "
                    "session measured is in it",
                    store.path().string()));
}

}  // namespace fourtune::tuner
