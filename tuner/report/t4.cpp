#include "tuner/report/t4.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/json_text.h"
#include "db/limits.h"
#include "fourtune/problem.h"
#include "fourtune/status.h"
#include "tuner/report/configuration.h"

namespace fourtune::tuner {
namespace {

using Tree = nlohmann::json;

constexpr const char* kVersion = "1.0.0";
constexpr std::array<std::pair<const char*, std::string db::Environment::*>, 8> kEnvironment{
    {{"backend", &db::Environment::backend},
     {"device", &db::Environment::device},
     {"isa", &db::Environment::isa},
     {"traits", &db::Environment::traits},
     {"driver", &db::Environment::driver},
     {"compiler", &db::Environment::compiler},
     {"libraries", &db::Environment::libraries},
     {"generator", &db::Environment::generator}}};
// Texts of a run that other tools do not read.
constexpr std::array<std::pair<const char*, std::string db::Run::*>, 3> kTexts{
    {{"message", &db::Run::message}, {"kernels", &db::Run::kernels}, {"state", &db::Run::state}}};
constexpr std::string_view kStage = "stage ";

// The format has fewer words than the database, so the exact one is a measurement, "status".
const char* invalidity_of(db::RunStatus status) {
  switch (status) {
    case db::RunStatus::ok:
      return "correct";
    case db::RunStatus::rejected:
      return "constraints";
    case db::RunStatus::compile_error:
      return "compile";
    case db::RunStatus::wrong_result:
      return "correctness";
    case db::RunStatus::timeout:
      return "timeout";
    default:
      return "runtime";
  }
}

// "2026-11-25T14:31:06.123Z" and back.
std::string timestamp_of(std::int64_t ms) {
  using namespace std::chrono;
  const sys_time<milliseconds> at{milliseconds(ms)};
  const auto day = floor<days>(at);
  const year_month_day date{day};
  const hh_mm_ss time{at - day};
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), time.hours().count(),
                     time.minutes().count(), time.seconds().count(), time.subseconds().count());
}
std::int64_t ms_of(const std::string& text) {
  using namespace std::chrono;
  int y = 0, h = 0, m = 0, s = 0, ms = 0, end = 0;
  unsigned month = 0, d = 0;
  const int found = std::sscanf(text.c_str(), "%4d-%2u-%2uT%2d:%2d:%2d.%3dZ%n", &y, &month, &d, &h, &m, &s, &ms, &end);
  const year_month_day date{year(y), std::chrono::month(month), day(d)};
  if (found != 7 || static_cast<std::size_t>(end) != text.size() || !date.ok() || y < 1970)
    throw std::invalid_argument("\"" + text.substr(0, 40) + "\" is not a time such as 2026-11-25T14:31:06.123Z");
  return sys_time<milliseconds>(sys_days(date) + hours(h) + minutes(m) + seconds(s) + milliseconds(ms))
      .time_since_epoch()
      .count();
}

Tree measurement(std::string_view name, Tree value, const char* unit) {
  return {{"name", name}, {"value", std::move(value)}, {"unit", unit}};
}
double ms_of(std::int64_t ns) { return static_cast<double>(ns) / 1e6; }
std::int64_t ns_of(const Tree& ms) {
  const double ns = ms.get<double>() * 1e6;
  constexpr double kLongest = 1e15;  // eleven days; below it nanoseconds survive as milliseconds
  if (!(ns >= 0 && ns < kLongest)) throw std::invalid_argument("a time that is negative or no time");
  return std::llround(ns);
}

Tree session_json(const db::StoredSession& session) {
  Tree environment = Tree::object();
  for (const auto& [name, piece] : kEnvironment) environment[name] = session.environment.*piece;
  Tree json{{"environment", environment},   {"seed", session.seed},
            {"strategy", session.strategy}, {"budget_seconds", session.budget_seconds},
            {"command", session.command},   {"started", timestamp_of(session.started_ms)}};
  if (session.end) json["finished"] = timestamp_of(session.finished_ms), json["outcome"] = db::to_string(*session.end);
  return json;
}

Tree result_json(const db::StoredRun& run) {
  Tree configuration = configuration_of(run.plan);
  // These two say everything; a parameter of the same name would be hidden by them.
  if (configuration.contains("plan")) configuration["backend"] = configuration["plan"];
  configuration["problem"] = run.problem;
  configuration["plan"] = run.plan;
  Tree runtimes = Tree::array(), measurements = Tree::array();
  for (const std::int64_t ns : run.samples_ns) runtimes.push_back(ms_of(ns));
  if (!run.samples_ns.empty()) measurements.push_back(measurement("time", db::median(run.samples_ns) * 1e-6, "ms"));
  if (run.joules) measurements.push_back(measurement("energy", *run.joules, "J"));
  if (run.error) measurements.push_back(measurement("error", *run.error, ""));
  measurements.push_back(measurement("memory", run.memory_bytes, "byte"));
  measurements.push_back(measurement("round", run.round, ""));
  measurements.push_back(measurement("status", db::to_string(run.status), ""));
  for (const auto& [name, text] : kTexts)
    if (!(run.*text).empty()) measurements.push_back(measurement(name, run.*text, ""));
  for (const db::StageNs& stage : run.stages)
    measurements.push_back(measurement(std::string(kStage) + stage.stage, ms_of(stage.ns), "ms"));
  const bool right = run.status == db::RunStatus::ok;
  return {{"timestamp", timestamp_of(run.started_ms)},
          {"configuration", configuration},
          {"times", {{"runtimes", runtimes}}},
          {"invalidity", invalidity_of(run.status)},
          {"correctness", right ? 1 : 0},
          {"measurements", measurements},
          {"objectives", {"time"}}};
}

// ---- reading
void require(bool condition, const char* what) {
  if (!condition) throw std::invalid_argument(what);
}
std::string text_at(const Tree& json, const char* name, std::size_t longest) {
  std::string text = json.at(name).get<std::string>();
  require(text.size() <= longest && text.find('\0') == text.npos, "a text that is too long");
  return text;
}

db::StoredSession session_of(const Tree& json) {
  db::StoredSession session;
  const Tree& environment = json.at("environment");
  for (const auto& [name, piece] : kEnvironment) session.environment.*piece = text_at(environment, name, db::kMaxText);
  session.seed = json.at("seed").get<std::uint64_t>();
  session.strategy = text_at(json, "strategy", db::kMaxText);
  session.budget_seconds = json.at("budget_seconds").get<double>();
  require(std::isfinite(session.budget_seconds) && session.budget_seconds >= 0, "a budget that is not a time");
  session.command = text_at(json, "command", db::kMaxText);
  session.started_ms = ms_of(json.at("started").get<std::string>());
  if (!json.contains("outcome")) return session;
  session.finished_ms = ms_of(json.at("finished").get<std::string>());
  const auto outcome = json.at("outcome").get<std::string>();
  for (const auto end : {db::SessionEnd::complete, db::SessionEnd::interrupted, db::SessionEnd::failed})
    if (outcome == db::to_string(end)) session.end = end;
  require(session.end.has_value(), "an outcome that is none of complete, interrupted and failed");
  return session;
}

void take(db::StoredRun& run, const Tree& measurement) {
  const auto name = measurement.at("name").get<std::string>();
  const Tree& value = measurement.at("value");
  if (name == "energy") {
    run.joules = value.get<double>();
    require(*run.joules > 0 && std::isfinite(*run.joules), "an energy that is not positive");
  }
  if (name == "error") run.error = value.get<double>();
  if (name == "memory") run.memory_bytes = value.get<std::int64_t>();
  if (name == "round") run.round = value.get<int>();
  if (name == "status") run.status = db::run_status_from(value.get<std::string>());
  for (const auto& [known, text] : kTexts)
    if (name == known) run.*text = text_at(measurement, "value", db::kMaxText);
  if (!name.starts_with(kStage)) return;
  constexpr std::size_t kMaxStage = 100;
  require(name.size() <= kMaxStage && name.find('\0') == name.npos, "a stage whose name is too long");
  run.stages.push_back({name.substr(kStage.size()), ns_of(value)});
}

db::StoredRun run_of(const Tree& json) {
  db::StoredRun run;
  const Tree& configuration = json.at("configuration");
  require(configuration.contains("problem") && configuration.contains("plan"),
          "its configuration has no \"problem\" and \"plan\": only results of fourtune can be read back");
  run.problem = text_at(configuration, "problem", db::kMaxToken);
  require(to_token(parse_problem(run.problem)) == run.problem, "its problem is no canonical token");
  run.plan = text_at(configuration, "plan", db::kMaxPlan);
  require(!run.plan.empty(), "its plan is empty");
  run.started_ms = ms_of(json.at("timestamp").get<std::string>());
  for (const Tree& runtime : json.at("times").at("runtimes")) run.samples_ns.push_back(ns_of(runtime));
  for (const Tree& one : json.at("measurements")) take(run, one);
  require(run.samples_ns.size() <= db::kMaxSamples && run.stages.size() <= db::kMaxSamples, "too many samples");
  require(run.round >= 0 && run.memory_bytes >= 0, "a number that is negative");
  require((run.status == db::RunStatus::ok) == (json.at("correctness").get<double>() == 1),
          "its correctness is not that of its status");
  return run;
}

// Whatever is wrong with a part becomes one kind of error that names it.
template <class Read>
auto reading(const std::string& part, const Read& read) {
  try {
    return read();
  } catch (const std::exception& error) {
    throw Error(Status::invalid_argument, fmt::format("{}: {}", part, error.what()));
  }
}

}  // namespace

std::string t4_text(const db::StoreContents& contents, const std::vector<std::string>& problems) {
  std::map<db::SessionId, std::vector<std::pair<std::int64_t, Tree>>> runs;
  for (const db::StoredRun& run : contents.runs) {
    const bool wanted = problems.empty() || std::find(problems.begin(), problems.end(), run.problem) != problems.end();
    if (wanted && run.status != db::RunStatus::interrupted)
      runs[run.session].emplace_back(run.started_ms, result_json(run));
  }
  std::vector<std::pair<std::int64_t, std::pair<Tree, db::SessionId>>> sessions;
  for (const db::StoredSession& session : contents.sessions)
    if (runs.contains(session.id)) sessions.push_back({session.started_ms, {session_json(session), session.id}});
  std::sort(sessions.begin(), sessions.end());
  Tree document{{"schema_version", kVersion}, {"results", Tree::array()}};
  document["metadata"] = {{"tool", "fourtune"}, {"sessions", Tree::array()}};
  for (std::size_t i = 0; i < sessions.size(); ++i) {
    const auto& [session, id] = sessions[i].second;
    document["metadata"]["sessions"].push_back(session);
    auto& rows = runs[id];
    std::sort(rows.begin(), rows.end());
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    for (auto& [started_ms, row] : rows) {
      row["session"] = i;
      document["results"].push_back(std::move(row));
    }
  }
  return json_lines(document, 1) + '\n';
}

db::StoreContents contents_of_t4(std::string_view text) {
  const Tree document = parse_json(text);
  if (!document.is_object() || !document.contains("schema_version") || !document.contains("results"))
    throw Error(Status::invalid_argument, "no results in the format T4: a JSON object with schema_version and results");
  if (document["schema_version"] != kVersion)
    throw Error(Status::invalid_argument, fmt::format("schema_version is {}; this version reads {}",
                                                      json_line(document["schema_version"]), kVersion));
  db::StoreContents contents;
  const Tree sessions =
      reading("metadata", [&] { return document.at("metadata").at("sessions").get<Tree::array_t>(); });
  for (std::size_t i = 0; i < sessions.size(); ++i) {
    contents.sessions.push_back(
        reading(fmt::format("metadata.sessions[{}]", i), [&] { return session_of(sessions[i]); }));
    contents.sessions.back().id = db::SessionId{static_cast<std::int64_t>(i)};
  }
  const Tree& results = document["results"];
  for (std::size_t i = 0; i < results.size(); ++i)
    reading(fmt::format("results[{}]", i), [&] {
      db::StoredRun run = run_of(results.at(i));
      const auto session = results.at(i).at("session").get<std::size_t>();
      require(session < contents.sessions.size(), "its session is not in metadata.sessions");
      run.session = db::SessionId{static_cast<std::int64_t>(session)};
      contents.runs.push_back(std::move(run));
      return true;
    });
  return contents;
}

}  // namespace fourtune::tuner
