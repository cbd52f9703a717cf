#include "db/queries.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "db/limits.h"

namespace fourtune::db {
namespace {

using nlohmann::json;

// A corrupted file can make SQLite walk the same pages over and over; no real file comes near this.
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
      "SELECT {}, v.id, v.session, v.created_ms, v.withdrawn, p.token, l.text, r.text, v.validity, v.winner_ns,"
      " v.incumbent_ns, v.ratio_low, v.ratio_high, v.rounds{} "
      "FROM verdict v JOIN session s ON s.id = v.session JOIN environment e ON e.id = s.environment"
      " JOIN problem p ON p.id = v.problem JOIN plan l ON l.id = v.plan LEFT JOIN plan r ON r.id = v.replaces ",
      kEnvironmentColumns, more_columns);
}
constexpr int kVerdictWidth = kEnvironmentWidth + 13;

StoredVerdict verdict_at(const Statement& row) {
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
  if (const std::string fault = verdict_fault(verdict); !fault.empty()) damaged(fault);
  return verdict;
}

// ---- JSON texts --------------------------------------------------------------------------------------------------
json parse_list(const std::string& text) {
  json list = json::parse(text, nullptr, false);
  if (!list.is_array()) damaged("samples or stages are not a list");
  if (list.size() > kMaxSamples) damaged("too many samples or stages");
  return list;
}

std::int64_t nanoseconds(const json& value) {
  if (!value.is_number_integer()) damaged("a time that is not a whole number of nanoseconds");
  return value.get<std::int64_t>();
}

void add_run(PlanHistory& history, const Statement& row) {
  const RunStatus status = run_status_from(row.text(1, kMaxText));
  if (status == RunStatus::interrupted) return;
  history.last_status = status;
  history.last_message = row.text(4, kMaxText);
  if (status != RunStatus::ok) {
    ++history.failed_runs;
    return;
  }
  ++history.ok_runs;
  if (!row.is_null(2)) history.worst_error = std::max(history.worst_error.value_or(0), row.real(2));
  const auto samples = parse_samples(row.text(3, kMaxSamplesText));
  history.samples_ns.insert(history.samples_ns.end(), samples.begin(), samples.end());
}

}  // namespace

std::string samples_text(const std::vector<std::int64_t>& samples) { return json(samples).dump(); }

std::string stages_text(const std::vector<StageNs>& stages) {
  json list = json::array();
  for (const StageNs& stage : stages) list.push_back({stage.stage, stage.ns});
  return list.dump(-1, ' ', false, json::error_handler_t::replace);
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

std::vector<StoredVerdict> read_verdicts(const Database& database, std::string_view problem) {
  Statement rows = database.prepare(select_verdicts() + "WHERE ?1 = '' OR p.token = ?1 ORDER BY v.id");
  return collect(rows.with(problem), verdict_at);
}

std::vector<StoredVerdict> read_winners(const Database& database, std::optional<std::int64_t> environment,
                                        std::optional<std::string_view> problem) {
  Statement rows = database.prepare(
      select_verdicts() +
      "WHERE v.withdrawn IS NULL AND (?1 IS NULL OR s.environment = ?1) AND (?2 IS NULL OR p.token = ?2) "
      "AND NOT EXISTS (SELECT 1 FROM verdict w JOIN session t ON t.id = w.session WHERE w.problem = v.problem"
      " AND t.environment = s.environment AND w.withdrawn IS NULL AND w.id > v.id) "
      "ORDER BY p.token, v.id");
  return collect(rows.with(environment, problem), verdict_at);
}

std::vector<LookupEntry> read_lookup_entries(const Database& database) {
  Statement rows = database.prepare(
      select_verdicts(", (SELECT n.wisdom FROM run n JOIN session t ON t.id = n.session WHERE n.problem = v.problem"
                      " AND n.plan = v.plan AND t.environment = s.environment AND n.status = 'ok' AND n.wisdom <> ''"
                      " ORDER BY n.id DESC LIMIT 1)") +
      "WHERE v.withdrawn IS NULL ORDER BY p.token, v.id DESC");
  return collect(rows, [](const Statement& row) {
    return LookupEntry{verdict_at(row), row.text(kVerdictWidth, kMaxWisdom), 0};
  });
}

std::vector<StoredRun> read_runs(const Database& database, std::string_view problem, std::optional<SessionId> session) {
  Statement rows = database.prepare(
      "SELECT r.session, l.text, r.round, r.status, r.error, r.samples_ns, r.stages_ns, r.wisdom, r.memory_bytes,"
      " r.message, r.started_ms, r.kernels FROM run r JOIN problem p ON p.id = r.problem JOIN plan l ON l.id = r.plan "
      "WHERE p.token = ?1 AND (?2 IS NULL OR r.session = ?2) ORDER BY r.id");
  std::optional<std::int64_t> only;
  if (session) only = static_cast<std::int64_t>(*session);
  return collect(rows.with(problem, only), [&](const Statement& row) {
    StoredRun run;
    run.session = SessionId{row.integer(0)};
    run.problem = problem;
    run.plan = row.text(1, kMaxPlan);
    run.round = small_integer(row, 2, "round");
    run.status = run_status_from(row.text(3, kMaxText));
    if (!row.is_null(4)) run.error = row.real(4);
    run.samples_ns = parse_samples(row.text(5, kMaxSamplesText));
    run.stages = parse_stages(row.text(6, kMaxSamplesText));
    run.wisdom = row.text(7, kMaxWisdom);
    run.memory_bytes = row.integer(8);
    run.message = row.text(9, kMaxText);
    run.started_ms = row.integer(10);
    run.kernels = row.text(11, kMaxText);
    return run;
  });
}

std::vector<PlanHistory> read_history(const Database& database, std::string_view problem, std::int64_t environment) {
  Statement rows = database.prepare(
      "SELECT l.text, r.status, r.error, r.samples_ns, r.message FROM run r JOIN problem p ON p.id = r.problem"
      " JOIN plan l ON l.id = r.plan JOIN session s ON s.id = r.session "
      "WHERE p.token = ?1 AND s.environment = ?2 ORDER BY r.id");
  rows.with(problem, environment);
  std::vector<PlanHistory> all;
  std::unordered_map<std::string, std::size_t> index;
  while (rows.step()) {
    const std::string plan = rows.text(0, kMaxPlan);
    const auto [place, added] = index.try_emplace(plan, all.size());
    if (added) all.emplace_back().plan = plan;
    add_run(all[place->second], rows);
  }
  // A plan whose every run was interrupted is as good as untried.
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
                        std::int64_t environment) {
  Statement row = database.prepare(
      "SELECT r.wisdom FROM run r JOIN problem p ON p.id = r.problem JOIN plan l ON l.id = r.plan"
      " JOIN session s ON s.id = r.session WHERE p.token = ? AND l.text = ? AND s.environment = ?"
      " AND r.status = 'ok' AND r.wisdom <> '' ORDER BY r.id DESC LIMIT 1");
  return row.with(problem, plan, environment).step() ? row.text(0, kMaxWisdom) : std::string();
}

}  // namespace fourtune::db
