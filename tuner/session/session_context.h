// State that the parts of one session share: options, database, evaluator, clock, and the report written so far.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "db/tuning_store.h"
#include "tuner/session/session.h"

namespace fourtune::tuner {

class SessionContext {
 public:
  SessionContext(const SessionOptions& session_options, db::TuningStore& session_store, Evaluator& session_evaluator);

  const SessionOptions& options;
  db::TuningStore& store;
  Evaluator& evaluator;
  DeviceTraits traits;  // limited to options.threads cores
  std::shared_ptr<const Planning> planning;
  db::Environment environment;  // of the whole device, without that limit
  Report report;

  double elapsed() const;
  bool stopped() const { return options.stop && *options.stop; }
  // Seconds of the budget left; infinite without a budget.
  double left() const;

  // Writes to the database. If the store refuses a write, a warning is added, once per reason, and the session
  // continues.
  void begin();
  void record(const db::Run& run);
  void record(const db::Verdict& verdict);
  void withdraw(db::VerdictId verdict, const std::string& reason);
  void finish(db::SessionEnd end);
  void warn(const std::string& warning);

  // Notes what the session's time goes to. After a step, end_step returns that, and sends it as a trace.
  TaskClock clock;
  Spent end_step(Trace step);

 private:
  void guarded(const std::function<void()>& write);

  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::optional<db::SessionId> id_;
};

}  // namespace fourtune::tuner
