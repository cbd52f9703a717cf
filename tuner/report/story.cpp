#include "tuner/report/story.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "base/json_text.h"
#include "base/known_devices.h"
#include "generator/candidates.h"
#include "generator/plan/plan.h"
#include "tuner/session/problem_tuning.h"

namespace fourtune::tuner {
namespace {

// The numbers of the device of an environment, as far as they are known: those of a GPU by its name.
std::optional<DeviceTraits> traits_of(const db::Environment& environment) {
  DeviceTraits traits;
  const int cores = db::cores_in(environment.traits);
  if (cores == 0) {
    std::string name;
    for (const char letter : environment.device)
      if (letter != ' ') name += static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    for (const std::string& known : generator::known_device_names())
      if (name.find(known) != name.npos) traits = *generator::known_device(known);
    if (traits.compute_capability == 0) return std::nullopt;
  }
  traits.backend = environment.backend;
  traits.isa = environment.isa;
  if (cores > 0) traits.cores = cores;
  return traits;
}

bool is_library(const std::string& plan) {
  return plan.find("fft=fftw") != plan.npos || plan.find("fft=cufft") != plan.npos;
}

// The stage that the plan's floor is of.
bool has_floor(const std::string& stage, const Problem& problem) {
  if (problem.kind == Kind::fft) return stage == "fft";
  return stage == (problem.type == 1 ? "spread" : "interpolate");
}

std::vector<StageFloor> stages_of(const db::StoredRun& run, const Problem& problem,
                                  const db::Environment& environment) {
  double floor = 0;
  try {
    if (const auto traits = traits_of(environment); traits && problem.type != 3)
      floor = generator::floor_seconds(generator::parse_plan(run.plan, problem), problem, *traits);
  } catch (const Error&) {  // a plan of another version
  }
  std::vector<StageFloor> stages;
  for (const db::StageNs& stage : run.stages) {
    if (stage.stage == set_points_stage) continue;  // the sum of others
    const double seconds = static_cast<double>(stage.ns) * 1e-9;
    stages.push_back({stage.stage, seconds, has_floor(stage.stage, problem) ? floor : 0});
  }
  return stages;
}

// Whether a run's state has a limit other than the power that the plan itself draws (device_sensors.h).
bool slowed(const std::string& state) {
  const auto json = parse_json(state);
  if (!json.is_object() || !json.contains("limits") || !json["limits"].is_array()) return false;
  return std::any_of(json["limits"].begin(), json["limits"].end(), [](const auto& limit) { return limit != "power"; });
}

// The runs of one problem in one environment, in the order of measuring.
Story story_of(const std::string& token, const db::Environment& environment,
               const std::vector<const db::StoredRun*>& runs, const ShowRow& winner) {
  const Problem problem = parse_problem(token);
  Story story;
  story.problem = token;
  story.environment = environment;
  story.winner = winner;
  std::set<std::string> seen;
  std::map<db::RunStatus, FailureGroup> failures;
  std::map<std::string, std::vector<std::int64_t>> samples;
  const db::StoredRun* latest = nullptr;  // of the winner
  for (const db::StoredRun* run : runs) {
    if (run->status == db::RunStatus::interrupted) continue;
    const bool is_ok = run->status == db::RunStatus::ok && !run->samples_ns.empty();
    if (run->message == untuned_mark) story.untuned.plan = run->plan;
    story.slowed += slowed(run->state);
    if (is_ok) {
      auto& all = samples[run->plan];
      all.insert(all.end(), run->samples_ns.begin(), run->samples_ns.end());
      if (run->plan == winner.plan && !run->stages.empty()) latest = run;
    }
    if (!seen.insert(run->plan).second) continue;
    story.course.push_back(is_ok ? db::median(run->samples_ns) * 1e-9 : 0);
    if (run->status == db::RunStatus::ok) continue;
    FailureGroup& group = failures[run->status];
    if (group.count++ == 0) group.status = run->status, group.message = run->message, group.plan = run->plan;
  }
  if (const auto found = samples.find(story.untuned.plan); found != samples.end())
    story.untuned.seconds = db::median(found->second) * 1e-9;
  if (problem.kind == Kind::fft)
    for (const auto& [plan, its] : samples)
      if (const double seconds = db::median(its) * 1e-9;
          is_library(plan) && (story.library.plan.empty() || seconds < story.library.seconds))
        story.library = {plan, seconds};
  if (latest) story.stages = stages_of(*latest, problem, environment);
  for (auto& [status, group] : failures) story.failures.push_back(std::move(group));
  std::stable_sort(story.failures.begin(), story.failures.end(),
                   [](const FailureGroup& a, const FailureGroup& b) { return a.count > b.count; });
  return story;
}

}  // namespace

std::vector<Story> stories_of(const db::TuningStore& store) {
  const auto environments = store.environments();
  const auto number_of = [&](const db::Environment& environment) {
    return static_cast<std::size_t>(std::find(environments.begin(), environments.end(), environment) -
                                    environments.begin());
  };
  std::map<db::SessionId, std::size_t> sessions;
  const std::vector<db::StoredSession> stored = store.sessions();
  for (const db::StoredSession& session : stored) sessions[session.id] = number_of(session.environment);
  std::map<std::pair<std::size_t, std::string>, ShowRow> winners;
  for (const db::StoredVerdict& verdict : store.winners())
    if (const auto row = winner_row(store, verdict, stored))
      winners[{number_of(verdict.environment), verdict.problem}] = *row;

  std::map<std::pair<std::size_t, std::string>, Story> stories;
  for (const std::string& token : store.problems()) {
    const std::vector<db::StoredRun> runs = store.runs(token);
    std::map<std::size_t, std::vector<const db::StoredRun*>> by_environment;
    for (const db::StoredRun& run : runs)
      if (const auto session = sessions.find(run.session); session != sessions.end())
        by_environment[session->second].push_back(&run);
    for (const auto& [environment, its] : by_environment) {
      try {
        const auto winner = winners.find({environment, token});
        stories[{environment, token}] =
            story_of(token, environments.at(environment), its, winner == winners.end() ? ShowRow() : winner->second);
      } catch (const Error&) {  // this version cannot read the token
      }
    }
  }
  std::vector<Story> all;
  for (auto& [key, story] : stories) all.push_back(std::move(story));
  return all;
}

}  // namespace fourtune::tuner
