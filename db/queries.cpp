#include "db/queries.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>
#include <unordered_map>

#include "base/json_text.h"
#include "db/limits.h"
#include "db/row_checksum.h"

namespace fourtune::db {
namespace {

using nlohmann::json;

// In a corrupted file SQLite can walk the same pages over and over; no real file comes near this limit.
constexpr std::size_t kMaxRows = 10'000'000;
constexpr std::size_t kMaxSamplesText = kMaxSamples * 24;

[[noreturn]] void damaged(const std::string& what) {
  throw StoreError(StoreFault::damaged, "tuning database has a damaged row: " + what);
}

template <class Row>
auto collect(Statement& rows, const Row& row) {
  std::vector<decltype(row(rows))> all;
  while (rows.step()) {
    if (all.size() >= kMaxRows) damaged("more rows than any tuning writes");
    all.push_back(row(rows));
  }
  return all;
}

// The same for rows with a checksum: `row` returns nothing for a damaged one, which is counted and passed over. One
// flipped bit loses only the row that contains it, not its neighbours.
template <class Row>
auto collect_intact(Statement& rows, std::size_t& passed_over, const Row& row) {
  std::vector<typename decltype(row(rows))::value_type> all;
  while (rows.step()) {
    if (all.size() + passed_over >= kMaxRows) damaged("more rows than any tuning writes");
    if (auto read = row(rows))
      all.push_back(std::move(*read));
    else
      ++passed_over;
  }
  return all;
}

// Returns nothing when a value of the row is not one that the schema allows.
template <class Read>
auto intact(const Read& read) -> decltype(read()) {
  try {
    return read();
  } catch (const Error&) {
    return std::nullopt;
  }
}

// Rows of earlier versions have no checksum and are accepted.
template <class Compute>
bool fits(const Statement& row, int column, const Compute& checksum) {
  return row.is_null(column) || row.text(column, kMaxText) == checksum();
}

int small_integer(const Statement& row, int column, const char* name) {
  const std::int64_t value = row.integer(column);
  if (value < 0 || value > std::numeric_limits<int>::max()) damaged(fmt::format("{} = {}", name, value));
  return static_cast<int>(value);
}

// ---- environments ------------------------------------------------------------------------------------------------
constexpr const char* kEnvironmentColumns =
    "e.backend, e.device, e.isa, e.traits, e.driver, e.compiler, e.libraries, e.generator";
constexpr int kEnvironmentWidth = 8;

Environment environment_at(const Statement& row, int column) {
  Environment environment;
  for (std::string* piece :
       {&environment.backend, &environment.device, &environment.isa, &environment.traits, &environment.driver,
        &environment.compiler, &environment.libraries, &environment.generator}) {
    *piece = row.text(column++, kMaxText);
  }
  return environment;
}

// ---- verdicts ----------------------------------------------------------------------------------------------------
std::string select_verdicts(const char* more_columns = "") {
  return fmt::format(
      "SELECT {}, v.id AS id, v.session, v.created_ms, v.withdrawn, p.token AS token, l.text, r.text, v.validity, "
      "v.winner_ns,"
      " v.incumbent_ns, v.ratio_low, v.ratio_high, v.rounds, v.objective, v.checksum{} "
      "FROM verdict v JOIN session s ON s.id = v.session JOIN environment e ON e.id = s.environment"
      " JOIN problem p ON p.id = v.problem JOIN plan l ON l.id = v.plan LEFT JOIN plan r ON r.id = v.replaces ",
      kEnvironmentColumns, more_columns);
}
constexpr int kVerdictWidth = kEnvironmentWidth + 15;

StoredVerdict checked_verdict(const Statement& row) {
  StoredVerdict verdict;
  verdict.environment = environment_at(row, 0);
  int column = kEnvironmentWidth;
  verdict.id = VerdictId{row.integer(column++)};
  verdict.session = SessionId{row.integer(column++)};
  verdict.created_ms = row.integer(column++);
  verdict.withdrawn = row.text(column++, kMaxText);
  verdict.problem = row.text(column++, kMaxToken);
  verdict.plan = row.text(column++, kMaxPlan);
  verdict.replaces = row.text(column++, kMaxPlan);
  verdict.validity = row.text(column++, kMaxText);
  verdict.winner_ns = row.real(column++);
  verdict.incumbent_ns = row.real(column++);
  verdict.ratio_low = row.real(column++);
  verdict.ratio_high = row.real(column++);
  verdict.rounds = small_integer(row, column++, "rounds");
  verdict.objective = objective_from(row.text(column++, kMaxText));
  if (const std::string fault = verdict_fault(verdict); !fault.empty()) damaged(fault);
  const auto checksum = [&] {
    return checksum_of(verdict, verdict.environment, verdict.created_ms, verdict.withdrawn);
  };
  if (!fits(row, column, checksum)) damaged("a verdict that is not what was written");
  return verdict;
}
std::optional<StoredVerdict> verdict_at(const Statement& row) {
  return intact([&] { return std::optional(checked_verdict(row)); });
}

// ---- runs --------------------------------------------------------------------------------------------------------
std::string run_columns(const char* table) {
  return fmt::format(
      "{0}.round, {0}.status, {0}.error, {0}.samples_ns, {0}.stages_ns, {0}.wisdom, {0}.memory_bytes, {0}.message,"
      " {0}.started_ms, {0}.kernels, {0}.state, {0}.joules, {0}.checksum",
      table);
}

// Reads the columns of run_columns, starting at `column`; returns nothing when they are not what was written.
std::optional<Run> run_at(const Statement& row, int column, std::string_view problem, std::string_view plan,
                          const Environment& environment) {
  return intact([&]() -> std::optional<Run> {
    Run run;
    run.problem = problem;
    run.plan = plan;
    run.round = small_integer(row, column, "round");
    run.status = run_status_from(row.text(column + 1, kMaxText));
    if (!row.is_null(column + 2)) run.error = row.real(column + 2);
    const std::string samples = row.text(column + 3, kMaxSamplesText), stages = row.text(column + 4, kMaxSamplesText);
    run.wisdom = row.text(column + 5, kMaxWisdom);
    run.memory_bytes = row.integer(column + 6);
    run.message = row.text(column + 7, kMaxText);
    run.started_ms = row.integer(column + 8);
    run.kernels = row.text(column + 9, kMaxText);
    run.state = row.text(column + 10, kMaxText);
    if (!row.is_null(column + 11)) run.joules = row.real(column + 11);
    if (!fits(row, column + 12, [&] { return checksum_of(run, environment, samples, stages); })) return std::nullopt;
    run.samples_ns = parse_samples(samples);
    run.stages = parse_stages(stages);
    return run;
  });
}

// ---- JSON texts --------------------------------------------------------------------------------------------------
json parse_list(const std::string& text) {
  json list = parse_json(text);
  if (!list.is_array()) damaged("samples or stages are not a list");
  if (list.size() > kMaxSamples) damaged("too many samples or stages");
  return list;
}

std::int64_t nanoseconds(const json& value) {
  if (!value.is_number_integer()) damaged("a time that is not a whole number of nanoseconds");
  return value.get<std::int64_t>();
}

void add_run(PlanHistory& history, const Run& run) {
  if (run.status == RunStatus::interrupted) return;
  history.last_status = run.status;
  history.last_message = run.message;
  if (run.status != RunStatus::ok) {
    ++history.failed_runs;
    return;
  }
  ++history.ok_runs;
  if (run.error) history.worst_error = std::max(history.worst_error.value_or(0), *run.error);
  history.samples_ns.insert(history.samples_ns.end(), run.samples_ns.begin(), run.samples_ns.end());
  if (run.joules) history.joules = run.joules;
}

}  // namespace

std::string samples_text(const std::vector<std::int64_t>& samples) { return json_line(samples); }

std::string stages_text(const std::vector<StageNs>& stages) {
  json list = json::array();
  for (const StageNs& stage : stages) list.push_back({stage.stage, stage.ns});
  return json_line(list);
}

std::vector<std::int64_t> parse_samples(const std::string& text) {
  std::vector<std::int64_t> samples;
  for (const json& sample : parse_list(text)) samples.push_back(nanoseconds(sample));
  return samples;
}

std::vector<StageNs> parse_stages(const std::string& text) {
  std::vector<StageNs> stages;
  for (const json& stage : parse_list(text)) {
    if (!stage.is_array() || stage.size() != 2 || !stage[0].is_string()) damaged("a stage is not [name, ns]");
    stages.push_back({stage[0].get<std::string>(), nanoseconds(stage[1])});
  }
  return stages;
}

std::string verdict_fault(const Verdict& verdict) {
  const auto number = [](double value, bool positive) {
    return std::isfinite(value) && (positive ? value > 0 : value >= 0);
  };
  if (verdict.problem.empty()) return "a verdict needs a problem";
  if (verdict.plan.empty()) return "a verdict needs a plan";
  if (!number(verdict.winner_ns, true)) return fmt::format("winner_ns = {}, must be positive", verdict.winner_ns);
  if (!number(verdict.incumbent_ns, false)) return fmt::format("incumbent_ns = {}", verdict.incumbent_ns);
  if (!number(verdict.ratio_low, false) || !number(verdict.ratio_high, false) ||
      verdict.ratio_low > verdict.ratio_high) {
    return fmt::format("interval [{}, {}] of the ratio, must be ordered and not negative", verdict.ratio_low,
                       verdict.ratio_high);
  }
  return verdict.rounds < 0 ? fmt::format("rounds = {}, must not be negative", verdict.rounds) : std::string();
}

std::optional<std::int64_t> environment_row(const Database& database, const Environment& environment) {
  Statement row = database.prepare(
      "SELECT id FROM environment WHERE backend = ? AND device = ? AND isa = ? AND traits = ? AND driver = ?"
      " AND compiler = ? AND libraries = ? AND generator = ?");
  row.with(environment.backend, environment.device, environment.isa, environment.traits, environment.driver,
           environment.compiler, environment.libraries, environment.generator);
  if (!row.step()) return std::nullopt;
  return row.integer(0);
}

std::optional<Environment> read_environment(const Database& database, SessionId session) {
  Statement row = database.prepare(fmt::format(
      "SELECT {} FROM session s JOIN environment e ON e.id = s.environment WHERE s.id = ?", kEnvironmentColumns));
  if (!row.with(static_cast<std::int64_t>(session)).step()) return std::nullopt;
  return environment_at(row, 0);
}

std::vector<StoredVerdict> read_verdicts(const Database& database, std::string_view problem, std::size_t& passed_over) {
  Statement rows = database.prepare(select_verdicts() + "WHERE ?1 = '' OR p.token = ?1 ORDER BY v.id");
  return collect_intact(rows.with(problem), passed_over, verdict_at);
}

std::optional<StoredVerdict> read_verdict(const Database& database, VerdictId id) {
  Statement row = database.prepare(select_verdicts() + "WHERE v.id = ?");
  return row.with(static_cast<std::int64_t>(id)).step() ? verdict_at(row) : std::nullopt;
}

std::vector<StoredVerdict> read_winners(const Database& database, std::optional<std::int64_t> environment,
                                        std::optional<std::string_view> problem) {
  Statement rows = database.prepare(select_verdicts() +
                                    "WHERE v.withdrawn IS NULL AND (?1 IS NULL OR s.environment = ?1)"
                                    " AND (?2 IS NULL OR p.token = ?2) ORDER BY p.token, s.environment, v.id");
  std::vector<StoredVerdict> winners;
  std::size_t passed_over = 0;
  for (StoredVerdict& verdict : collect_intact(rows.with(environment, problem), passed_over, verdict_at)) {
    const bool later = !winners.empty() && winners.back().problem == verdict.problem &&
                       winners.back().environment == verdict.environment;
    later ? void(winners.back() = std::move(verdict)) : winners.push_back(std::move(verdict));
  }
  std::stable_sort(winners.begin(), winners.end(), [](const StoredVerdict& a, const StoredVerdict& b) {
    return std::tie(a.problem, a.id) < std::tie(b.problem, b.id);
  });
  return winners;
}

std::vector<LookupEntry> read_lookup_entries(const Database& database, std::size_t& passed_over) {
  // Joins the run that supplies the wisdom, if any.
  Statement rows = database.prepare(
      fmt::format("SELECT verdicts.*, {} FROM ({}WHERE v.withdrawn IS NULL) verdicts LEFT JOIN run n ON n.id ="
                  " (SELECT x.id FROM run x JOIN session t ON t.id = x.session WHERE x.problem = verdicts.problem_id"
                  " AND x.plan = verdicts.plan_id AND t.environment = verdicts.environment_id AND x.status = 'ok'"
                  " AND x.wisdom <> '' ORDER BY x.id DESC LIMIT 1) ORDER BY verdicts.token, verdicts.id DESC",
                  run_columns("n"),
                  select_verdicts(", v.problem AS problem_id, v.plan AS plan_id,"
                                  " s.environment AS environment_id")));
  constexpr int kRun = kVerdictWidth + 3;
  return collect_intact(rows, passed_over, [](const Statement& row) -> std::optional<LookupEntry> {
    auto verdict = verdict_at(row);
    if (!verdict) return std::nullopt;
    std::string wisdom;
    if (!row.is_null(kRun))
      if (auto run = run_at(row, kRun, verdict->problem, verdict->plan, verdict->environment))
        wisdom = std::move(run->wisdom);
    return LookupEntry{std::move(*verdict), std::move(wisdom), 0};
  });
}

std::vector<StoredRun> read_runs(const Database& database, std::string_view problem, std::optional<SessionId> session,
                                 std::size_t& passed_over) {
  Statement rows =
      database.prepare(fmt::format("SELECT {}, r.session, l.text, {} FROM run r JOIN problem p ON p.id = r.problem"
                                   " JOIN plan l ON l.id = r.plan JOIN session s ON s.id = r.session"
                                   " JOIN environment e ON e.id = s.environment "
                                   "WHERE p.token = ?1 AND (?2 IS NULL OR r.session = ?2) ORDER BY r.id",
                                   kEnvironmentColumns, run_columns("r")));
  std::optional<std::int64_t> only;
  if (session) only = static_cast<std::int64_t>(*session);
  return collect_intact(rows.with(problem, only), passed_over, [&](const Statement& row) {
    return intact([&]() -> std::optional<StoredRun> {
      const Environment environment = environment_at(row, 0);
      const std::string plan = row.text(kEnvironmentWidth + 1, kMaxPlan);
      auto run = run_at(row, kEnvironmentWidth + 2, problem, plan, environment);
      if (!run) return std::nullopt;
      return StoredRun{std::move(*run), SessionId{row.integer(kEnvironmentWidth)}};
    });
  });
}

std::vector<PlanHistory> read_history(const Database& database, std::string_view problem,
                                      const Environment& environment) {
  const auto environment_id = environment_row(database, environment);
  if (!environment_id) return {};
  Statement rows = database.prepare(
      fmt::format("SELECT l.text, {} FROM run r JOIN problem p ON p.id = r.problem JOIN plan l ON l.id = r.plan"
                  " JOIN session s ON s.id = r.session WHERE p.token = ?1 AND s.environment = ?2 ORDER BY r.id",
                  run_columns("r")));
  rows.with(problem, *environment_id);
  std::vector<PlanHistory> all;
  std::unordered_map<std::string, std::size_t> index;
  while (rows.step()) {
    const auto run = intact([&] { return run_at(rows, 1, problem, rows.text(0, kMaxPlan), environment); });
    if (!run) continue;  // treated as if it had never been recorded
    const auto [place, added] = index.try_emplace(run->plan, all.size());
    if (added) all.emplace_back().plan = run->plan;
    add_run(all[place->second], *run);
  }
  // A plan whose every run was interrupted counts as untried.
  std::erase_if(all, [](const PlanHistory& plan) { return plan.ok_runs + plan.failed_runs == 0; });
  for (PlanHistory& plan : all) plan.median_ns = median(plan.samples_ns);
  return all;
}

std::vector<std::string> read_problems(const Database& database) {
  Statement rows = database.prepare(
      "SELECT token FROM problem WHERE id IN (SELECT problem FROM run UNION SELECT problem FROM verdict) "
      "ORDER BY token");
  return collect(rows, [](const Statement& row) { return row.text(0, kMaxToken); });
}

std::vector<Environment> read_environments(const Database& database) {
  Statement rows = database.prepare(fmt::format("SELECT {} FROM environment e ORDER BY e.id", kEnvironmentColumns));
  return collect(rows, [](const Statement& row) { return environment_at(row, 0); });
}

std::vector<StoredSession> read_sessions(const Database& database) {
  Statement rows = database.prepare(
      fmt::format("SELECT {}, s.id, s.started_ms, s.finished_ms, s.outcome, s.seed, s.strategy, s.budget_seconds,"
                  " s.command FROM session s JOIN environment e ON e.id = s.environment ORDER BY s.id",
                  kEnvironmentColumns));
  return collect(rows, [](const Statement& row) {
    StoredSession session;
    session.environment = environment_at(row, 0);
    int column = kEnvironmentWidth;
    session.id = SessionId{row.integer(column++)};
    session.started_ms = row.integer(column++);
    session.finished_ms = row.integer(column++);
    const std::string outcome = row.text(column++, kMaxText);
    for (const SessionEnd end : {SessionEnd::complete, SessionEnd::interrupted, SessionEnd::failed}) {
      if (outcome == to_string(end)) session.end = end;
    }
    session.seed = static_cast<std::uint64_t>(row.integer(column++));
    session.strategy = row.text(column++, kMaxText);
    session.budget_seconds = row.real(column++);
    session.command = row.text(column++, kMaxText);
    return session;
  });
}

std::string read_wisdom(const Database& database, std::string_view problem, std::string_view plan,
                        const Environment& environment) {
  const auto environment_id = environment_row(database, environment);
  if (!environment_id) return {};
  Statement row = database.prepare(
      fmt::format("SELECT {} FROM run r JOIN problem p ON p.id = r.problem JOIN plan l ON l.id = r.plan"
                  " JOIN session s ON s.id = r.session WHERE p.token = ? AND l.text = ? AND s.environment = ?"
                  " AND r.status = 'ok' AND r.wisdom <> '' ORDER BY r.id DESC LIMIT 1",
                  run_columns("r")));
  if (!row.with(problem, plan, *environment_id).step()) return {};
  const auto run = run_at(row, 0, problem, plan, environment);
  return run ? run->wisdom : std::string();
}

Damage read_damage(const Database& database) {
  Damage damage;
  const Snapshot snapshot(database);
  read_verdicts(database, {}, damage.verdicts);
  for (const std::string& problem : read_problems(database)) read_runs(database, problem, std::nullopt, damage.runs);
  std::set<std::pair<std::string, std::int64_t>> unreachable;
  Statement rows = database.prepare("PRAGMA foreign_key_check");
  while (rows.step() && unreachable.size() < kMaxRows) unreachable.emplace(rows.text(0, kMaxText), rows.integer(1));
  damage.unreachable = unreachable.size();
  return damage;
}

}  // namespace fourtune::db
