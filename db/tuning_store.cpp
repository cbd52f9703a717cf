#include "db/tuning_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "db/database.h"
#include "db/limits.h"
#include "db/queries.h"
#include "db/store_file.h"

namespace fourtune::db {

struct TuningStore::Impl {
  std::filesystem::path path;
  bool writable;
  Database database;
};

namespace {

std::int64_t now_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

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

// The row of a value in a table of distinct values, added when missing. Inside the caller's transaction.
std::int64_t problem_row(const Database& database, std::string_view token) {
  database.prepare("INSERT INTO problem (token) VALUES (?) ON CONFLICT DO NOTHING").with(token).run();
  Statement row = database.prepare("SELECT id FROM problem WHERE token = ?");
  row.with(token).step();
  return row.integer(0);
}

std::int64_t plan_row(const Database& database, std::string_view text) {
  database.prepare("INSERT INTO plan (text) VALUES (?) ON CONFLICT DO NOTHING").with(text).run();
  Statement row = database.prepare("SELECT id FROM plan WHERE text = ?");
  row.with(text).step();
  return row.integer(0);
}

std::int64_t add_environment(const Database& database, const Environment& e) {
  if (const auto row = environment_row(database, e)) return *row;
  database
      .prepare(
          "INSERT INTO environment (backend, device, isa, traits, driver, compiler, libraries, generator)"
          " VALUES (?, ?, ?, ?, ?, ?, ?, ?)")
      .with(e.backend, e.device, e.isa, e.traits, e.driver, e.compiler, e.libraries, e.generator)
      .run();
  return database.last_row();
}

void require_session(const Database& database, SessionId session) {
  Statement row = database.prepare("SELECT 1 FROM session WHERE id = ?");
  if (!row.with(static_cast<std::int64_t>(session)).step()) {
    throw Error(Status::invalid_argument,
                fmt::format("session {} is not in this database", static_cast<std::int64_t>(session)));
  }
}

void require_run(const Run& run) {
  require_name(run.problem, kMaxToken, "problem token");
  require_name(run.plan, kMaxPlan, "plan text");
  require_text(run.wisdom, kMaxWisdom, "wisdom");
  require_text(run.message, kMaxText, "message");
  require_text(run.kernels, kMaxText, "list of kernels");
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
  return TuningStore(std::make_unique<Impl>(Impl{path, false, db::open_for_reading(path, as)}));
}

TuningStore TuningStore::open_for_writing(const std::filesystem::path& path, int busy_ms, Journal journal) {
  return TuningStore(std::make_unique<Impl>(Impl{path, true, db::open_for_writing(path, busy_ms, journal)}));
}

const std::filesystem::path& TuningStore::path() const noexcept { return impl_->path; }
bool TuningStore::writable() const noexcept { return impl_->writable; }

const Database& TuningStore::for_writing() const {
  if (!impl_->writable) throw Error(Status::invalid_argument, "the store was opened for reading, it cannot be written");
  return impl_->database;
}

// ---- writing -----------------------------------------------------------------------------------------------------
SessionId TuningStore::begin_session(const SessionStart& start) {
  const Database& database = for_writing();
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
  Transaction transaction(database);
  const std::int64_t environment = add_environment(database, e);
  database
      .prepare(
          "INSERT INTO session (environment, started_ms, seed, strategy, budget_seconds, command)"
          " VALUES (?, ?, ?, ?, ?, ?)")
      .with(environment, now_ms(), static_cast<std::int64_t>(start.seed), start.strategy, start.budget_seconds,
            start.command)
      .run();
  const SessionId session{database.last_row()};
  transaction.commit();
  return session;
}

void TuningStore::record_run(SessionId session, const Run& run) {
  const Database& database = for_writing();
  require_run(run);
  Transaction transaction(database);
  require_session(database, session);
  const std::int64_t problem = problem_row(database, run.problem);
  const std::int64_t plan = plan_row(database, run.plan);
  // SQLite stores NaN as NULL: an error that is not a number reads back as not measured.
  database
      .prepare(
          "INSERT INTO run (session, problem, plan, round, status, error, samples_ns, stages_ns, memory_bytes,"
          " wisdom, message, started_ms, kernels) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
      .with(static_cast<std::int64_t>(session), problem, plan, std::int64_t{run.round}, to_string(run.status),
            run.error, samples_text(run.samples_ns), stages_text(run.stages), run.memory_bytes, run.wisdom, run.message,
            run.started_ms ? run.started_ms : now_ms(), run.kernels)
      .run();
  transaction.commit();
}

VerdictId TuningStore::record_verdict(SessionId session, const Verdict& verdict) {
  const Database& database = for_writing();
  require_verdict(verdict);
  Transaction transaction(database);
  require_session(database, session);
  const std::int64_t problem = problem_row(database, verdict.problem);
  const std::int64_t plan = plan_row(database, verdict.plan);
  std::optional<std::int64_t> replaces;
  if (!verdict.replaces.empty()) replaces = plan_row(database, verdict.replaces);
  std::optional<double> incumbent_ns;
  if (verdict.incumbent_ns > 0) incumbent_ns = verdict.incumbent_ns;
  database
      .prepare(
          "INSERT INTO verdict (session, problem, plan, replaces, validity, winner_ns, incumbent_ns, ratio_low,"
          " ratio_high, rounds, created_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
      .with(static_cast<std::int64_t>(session), problem, plan, replaces, verdict.validity, verdict.winner_ns,
            incumbent_ns, verdict.ratio_low, verdict.ratio_high, std::int64_t{verdict.rounds}, now_ms())
      .run();
  const VerdictId id{database.last_row()};
  transaction.commit();
  return id;
}

void TuningStore::withdraw_verdict(VerdictId verdict, std::string_view reason) {
  const Database& database = for_writing();
  require_name(reason, kMaxText, "the reason to withdraw a verdict");
  Transaction transaction(database);
  const auto id = static_cast<std::int64_t>(verdict);
  database.prepare("UPDATE verdict SET withdrawn = ? WHERE id = ? AND withdrawn IS NULL").with(reason, id).run();
  if (database.changes() == 0) {
    throw Error(Status::invalid_argument, fmt::format("verdict {} is not in this database, or is withdrawn", id));
  }
  transaction.commit();
}

void TuningStore::finish_session(SessionId session, SessionEnd end) {
  const Database& database = for_writing();
  Transaction transaction(database);
  require_session(database, session);
  database.prepare("UPDATE session SET finished_ms = ?, outcome = ? WHERE id = ?")
      .with(now_ms(), to_string(end), static_cast<std::int64_t>(session))
      .run();
  transaction.commit();
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
  return read_verdicts(impl_->database, problem);
}

std::vector<StoredRun> TuningStore::runs(std::string_view problem, std::optional<SessionId> session) const {
  return read_runs(impl_->database, problem, session);
}

std::vector<PlanHistory> TuningStore::history(std::string_view problem, const Environment& environment) const {
  const auto row = environment_row(impl_->database, environment);
  return row ? read_history(impl_->database, problem, *row) : std::vector<PlanHistory>();
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

std::vector<std::string> TuningStore::problems() const { return read_problems(impl_->database); }
std::vector<Environment> TuningStore::environments() const { return read_environments(impl_->database); }
std::vector<StoredSession> TuningStore::sessions() const { return read_sessions(impl_->database); }

std::string TuningStore::wisdom(std::string_view problem, std::string_view plan, const Environment& environment) const {
  const auto row = environment_row(impl_->database, environment);
  return row ? read_wisdom(impl_->database, problem, plan, *row) : std::string();
}

}  // namespace fourtune::db
