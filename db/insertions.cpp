#include "db/insertions.h"

#include <optional>
#include <string>

#include "db/queries.h"
#include "db/row_checksum.h"

namespace fourtune::db {
namespace {

// The row of a value in a table of distinct values, added when missing.
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

}  // namespace

SessionId insert_session(const Database& database, const SessionStart& start, std::int64_t started_ms) {
  const std::int64_t environment = add_environment(database, start.environment);
  database
      .prepare(
          "INSERT INTO session (environment, started_ms, seed, strategy, budget_seconds, command)"
          " VALUES (?, ?, ?, ?, ?, ?)")
      .with(environment, started_ms, static_cast<std::int64_t>(start.seed), start.strategy, start.budget_seconds,
            start.command)
      .run();
  return SessionId{database.last_row()};
}

void end_session(const Database& database, SessionId session, SessionEnd end, std::int64_t finished_ms) {
  database.prepare("UPDATE session SET finished_ms = ?, outcome = ? WHERE id = ?")
      .with(finished_ms, to_string(end), static_cast<std::int64_t>(session))
      .run();
}

void insert_run(const Database& database, SessionId session, const Run& run, const Environment& environment) {
  const std::string samples = samples_text(run.samples_ns), stages = stages_text(run.stages);
  const std::string checksum = checksum_of(run, environment, samples, stages);
  const std::int64_t problem = problem_row(database, run.problem);
  const std::int64_t plan = plan_row(database, run.plan);
  // SQLite stores NaN as NULL: an error that is NaN reads back as not measured.
  database
      .prepare(
          "INSERT INTO run (session, problem, plan, round, status, error, samples_ns, stages_ns, memory_bytes,"
          " wisdom, message, started_ms, kernels, state, joules, checksum)"
          " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
      .with(static_cast<std::int64_t>(session), problem, plan, std::int64_t{run.round}, to_string(run.status),
            run.error, samples, stages, run.memory_bytes, run.wisdom, run.message, run.started_ms, run.kernels,
            run.state, run.joules, checksum)
      .run();
}

VerdictId insert_verdict(const Database& database, SessionId session, const Verdict& verdict,
                         const Environment& environment, std::int64_t created_ms) {
  const std::string checksum = checksum_of(verdict, environment, created_ms, {});
  const std::int64_t problem = problem_row(database, verdict.problem);
  const std::int64_t plan = plan_row(database, verdict.plan);
  std::optional<std::int64_t> replaces;
  if (!verdict.replaces.empty()) replaces = plan_row(database, verdict.replaces);
  std::optional<double> incumbent_ns;
  if (verdict.incumbent_ns > 0) incumbent_ns = verdict.incumbent_ns;
  database
      .prepare(
          "INSERT INTO verdict (session, problem, plan, replaces, validity, winner_ns, incumbent_ns, ratio_low,"
          " ratio_high, rounds, created_ms, objective, checksum) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
      .with(static_cast<std::int64_t>(session), problem, plan, replaces, verdict.validity, verdict.winner_ns,
            incumbent_ns, verdict.ratio_low, verdict.ratio_high, std::int64_t{verdict.rounds}, created_ms,
            to_string(verdict.objective), checksum)
      .run();
  return VerdictId{database.last_row()};
}

bool withdraw(const Database& database, VerdictId verdict, std::string_view reason) {
  const auto stored = read_verdict(database, verdict);  // absent when damaged, and stays so
  std::optional<std::string> checksum;
  if (stored) checksum = checksum_of(*stored, stored->environment, stored->created_ms, reason);
  database
      .prepare(
          "UPDATE verdict SET withdrawn = ?1, checksum = iif(checksum IS NULL, NULL, ?2) WHERE withdrawn IS NULL"
          " AND (session, problem, plan, created_ms) ="
          " (SELECT session, problem, plan, created_ms FROM verdict WHERE id = ?3)")
      .with(reason, checksum, static_cast<std::int64_t>(verdict))
      .run();
  return database.changes() > 0;
}

}  // namespace fourtune::db
