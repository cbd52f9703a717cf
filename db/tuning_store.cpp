#include "db/tuning_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "db/clock.h"
#include "db/database.h"
#include "db/insertions.h"
#include "db/limits.h"
#include "db/queries.h"
#include "db/store_file.h"

namespace fourtune::db {

struct TuningStore::Impl {
  std::filesystem::path path;
  bool writable;
  Database database;
  bool repaired = false;  // its indices were rebuilt

  // Runs `work` as one transaction and returns its result. If an index does not match its table, a look-up misses rows
  // that exist: then the indices are rebuilt from the tables, once, and the transaction runs again.
  template <class Work>
  auto transact(const Work& work) {
    const auto attempt = [&] {
      Transaction transaction(database);
      auto result = work(database);
      transaction.commit();
      return result;
    };
    try {
      return attempt();
    } catch (const StoreError& error) {
      if (error.fault() != StoreFault::damaged || repaired) throw;
    }
    database.execute("REINDEX");
    repaired = true;
    return attempt();
  }
};

namespace {

void require_text(std::string_view text, std::size_t longest, const char* what) {
  if (text.size() > longest) {
    throw Error(Status::invalid_argument,
                fmt::format("{} has {} bytes, at most {} are stored", what, text.size(), longest));
  }
  if (text.find('\0') != text.npos) throw Error(Status::invalid_argument, fmt::format("{} has a NUL inside", what));
}

void require_name(std::string_view text, std::size_t longest, const char* what) {
  if (text.empty()) throw Error(Status::invalid_argument, fmt::format("{} is empty", what));
  require_text(text, longest, what);
}

// Throws when there is no such session.
Environment environment_of_session(const Database& database, SessionId session) {
  if (auto environment = read_environment(database, session)) return std::move(*environment);
  const auto id = static_cast<std::int64_t>(session);
  Statement row = database.prepare("SELECT 1 FROM session WHERE id = ?");
  if (row.with(id).step())
    throw StoreError(StoreFault::damaged,
                     fmt::format("tuning database is damaged: the environment of session {} is not there", id));
  throw Error(Status::invalid_argument, fmt::format("session {} is not in this database", id));
}

void require_run(const Run& run) {
  require_name(run.problem, kMaxToken, "problem token");
  require_name(run.plan, kMaxPlan, "plan text");
  require_text(run.wisdom, kMaxWisdom, "wisdom");
  require_text(run.message, kMaxText, "message");
  require_text(run.kernels, kMaxText, "list of kernels");
  require_text(run.state, kMaxText, "state of the device");
  if (run.joules && !(*run.joules > 0 && std::isfinite(*run.joules)))
    throw Error(Status::invalid_argument, fmt::format("joules = {}, must be positive", *run.joules));
  for (const StageNs& stage : run.stages) require_text(stage.stage, 100, "stage name");
  if (run.round < 0) throw Error(Status::invalid_argument, fmt::format("round is {}, must not be negative", run.round));
  if (run.samples_ns.size() > kMaxSamples || run.stages.size() > kMaxSamples) {
    throw Error(Status::invalid_argument, fmt::format("a run has more than {} samples or stages", kMaxSamples));
  }
}

void require_verdict(const Verdict& verdict) {
  if (const std::string fault = verdict_fault(verdict); !fault.empty()) throw Error(Status::invalid_argument, fault);
  require_text(verdict.problem, kMaxToken, "problem token");
  require_text(verdict.plan, kMaxPlan, "plan text");
  require_text(verdict.replaces, kMaxPlan, "replaced plan's text");
  require_text(verdict.validity, kMaxText, "validity");
}

}  // namespace

// ---- opening -----------------------------------------------------------------------------------------------------
TuningStore::TuningStore(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
TuningStore::TuningStore(TuningStore&&) noexcept = default;
TuningStore& TuningStore::operator=(TuningStore&&) noexcept = default;
TuningStore::~TuningStore() = default;

TuningStore TuningStore::open_for_reading(const std::filesystem::path& path, OpenAs as) {
  return TuningStore(std::make_unique<Impl>(Impl{path, false, db::open_for_reading(path, as), false}));
}

TuningStore TuningStore::open_for_writing(const std::filesystem::path& path, int busy_ms, Journal journal) {
  return TuningStore(std::make_unique<Impl>(Impl{path, true, db::open_for_writing(path, busy_ms, journal), false}));
}

const std::filesystem::path& TuningStore::path() const noexcept { return impl_->path; }
bool TuningStore::writable() const noexcept { return impl_->writable; }
bool TuningStore::repaired() const noexcept { return impl_->repaired; }
Damage TuningStore::damage() const { return read_damage(impl_->database); }

const Database& TuningStore::for_writing() const {
  if (!impl_->writable) throw Error(Status::invalid_argument, "the store was opened for reading, it cannot be written");
  return impl_->database;
}

// ---- writing -----------------------------------------------------------------------------------------------------
SessionId TuningStore::begin_session(const SessionStart& start) {
  for_writing();
  const Environment& e = start.environment;
  for (const std::string* piece :
       {&e.backend, &e.device, &e.isa, &e.traits, &e.driver, &e.compiler, &e.libraries, &e.generator}) {
    require_text(*piece, kMaxText, "a piece of the environment");
  }
  require_text(start.strategy, kMaxText, "strategy");
  require_text(start.command, kMaxText, "command");
  if (!std::isfinite(start.budget_seconds) || start.budget_seconds < 0) {
    throw Error(Status::invalid_argument, "budget_seconds must be a number that is not negative");
  }
  return impl_->transact([&](const Database& within) { return insert_session(within, start, now_ms()); });
}

void TuningStore::record_run(SessionId session, const Run& run) {
  for_writing();
  require_run(run);
  Run stamped = run;
  if (stamped.started_ms == 0) stamped.started_ms = now_ms();
  impl_->transact([&](const Database& within) {
    insert_run(within, session, stamped, environment_of_session(within, session));
    return true;
  });
}

VerdictId TuningStore::record_verdict(SessionId session, const Verdict& verdict) {
  for_writing();
  require_verdict(verdict);
  const std::int64_t created = now_ms();
  return impl_->transact([&](const Database& within) {
    return insert_verdict(within, session, verdict, environment_of_session(within, session), created);
  });
}

void TuningStore::withdraw_verdict(VerdictId verdict, std::string_view reason) {
  for_writing();
  require_name(reason, kMaxText, "the reason to withdraw a verdict");
  impl_->transact([&](const Database& within) {
    if (!withdraw(within, verdict, reason))
      throw Error(Status::invalid_argument, fmt::format("verdict {} is not in this database, or is withdrawn",
                                                        static_cast<std::int64_t>(verdict)));
    return true;
  });
}

void TuningStore::finish_session(SessionId session, SessionEnd end) {
  for_writing();
  impl_->transact([&](const Database& within) {
    environment_of_session(within, session);
    end_session(within, session, end, now_ms());
    return true;
  });
}

// ---- reading -----------------------------------------------------------------------------------------------------
std::vector<StoredVerdict> TuningStore::winners(const std::optional<Environment>& environment) const {
  if (!environment) return read_winners(impl_->database, std::nullopt, std::nullopt);
  const auto row = environment_row(impl_->database, *environment);
  return row ? read_winners(impl_->database, row, std::nullopt) : std::vector<StoredVerdict>();
}

std::optional<StoredVerdict> TuningStore::winner(std::string_view problem, const Environment& environment) const {
  const auto row = environment_row(impl_->database, environment);
  if (!row) return std::nullopt;
  auto winners = read_winners(impl_->database, row, problem);
  if (winners.empty()) return std::nullopt;
  return std::move(winners.back());
}

std::vector<StoredVerdict> TuningStore::verdicts(std::string_view problem) const {
  std::size_t passed_over = 0;
  return read_verdicts(impl_->database, problem, passed_over);
}

std::vector<StoredRun> TuningStore::runs(std::string_view problem, std::optional<SessionId> session) const {
  std::size_t passed_over = 0;
  return read_runs(impl_->database, problem, session, passed_over);
}

std::vector<PlanHistory> TuningStore::history(std::string_view problem, const Environment& environment) const {
  return read_history(impl_->database, problem, environment);
}

std::vector<PlanHistory> TuningStore::runner_ups(std::string_view problem, const Environment& environment) const {
  const auto first = winner(problem, environment);
  auto plans = history(problem, environment);
  std::erase_if(plans, [&](const PlanHistory& plan) {
    return plan.ok_runs == 0 || plan.samples_ns.empty() || (first && plan.plan == first->plan);
  });
  std::stable_sort(plans.begin(), plans.end(),
                   [](const PlanHistory& a, const PlanHistory& b) { return a.median_ns < b.median_ns; });
  return plans;
}

std::shared_ptr<const Snapshot> TuningStore::one_moment() const {
  return std::make_shared<const Snapshot>(impl_->database);
}
std::vector<std::string> TuningStore::problems() const { return read_problems(impl_->database); }
std::vector<Environment> TuningStore::environments() const { return read_environments(impl_->database); }
std::vector<StoredSession> TuningStore::sessions() const { return read_sessions(impl_->database); }

std::string TuningStore::wisdom(std::string_view problem, std::string_view plan, const Environment& environment) const {
  return read_wisdom(impl_->database, problem, plan, environment);
}

}  // namespace fourtune::db
