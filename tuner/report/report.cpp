#include "tuner/report/report.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "tuner/measure/benchmark.h"
#include "tuner/session/problem_tuning.h"

namespace fourtune::tuner {
namespace {

// What the runs of one problem tell beyond their histories.
struct Evidence {
  std::map<std::string, double> set_points;  // plan -> seconds
  std::map<std::string, std::string> state;  // plan -> that of its latest right run with any
  std::string untuned;                       // the plan that runs untuned

  explicit Evidence(const std::vector<db::StoredRun>& runs) {
    for (const db::StoredRun& run : runs) {
      if (run.message == untuned_mark) untuned = run.plan;
      if (run.status == db::RunStatus::ok && !run.state.empty()) state[run.plan] = run.state;
      for (const db::StageNs& stage : run.stages)
        if (stage.stage == set_points_stage) set_points[run.plan] = static_cast<double>(stage.ns) * 1e-9;
    }
  }
};

// The samples of the plan's latest interleaved rounds in a session.
std::vector<std::int64_t> rounds_of(const std::vector<db::StoredRun>& runs, db::SessionId session,
                                    const std::string& plan) {
  std::vector<std::int64_t> samples;
  for (const db::StoredRun& run : runs)
    if (run.session == session && run.plan == plan && run.round > 0 && run.status == db::RunStatus::ok)
      samples = run.samples_ns;
  return samples;
}

// A problem's runs in one environment. Another backend or device has run other plans, and another one untuned.
std::vector<db::StoredRun> runs_in(const db::TuningStore& store, const db::StoredVerdict& verdict,
                                   const std::vector<db::StoredSession>& sessions) {
  std::set<db::SessionId> here;
  for (const db::StoredSession& session : sessions)
    if (session.environment == verdict.environment) here.insert(session.id);
  std::vector<db::StoredRun> runs = store.runs(verdict.problem);
  std::erase_if(runs, [&](const db::StoredRun& run) { return !here.contains(run.session); });
  return runs;
}

class RowMaker {
 public:
  RowMaker(const db::TuningStore& store, const db::StoredVerdict& verdict,
           const std::vector<db::StoredSession>& sessions)
      : verdict_(verdict),
        problem_(parse_problem(verdict.problem)),
        runs_(runs_in(store, verdict, sessions)),
        evidence_(runs_),
        history_(store.history(verdict.problem, verdict.environment)) {
    const auto found = std::find_if(history_.begin(), history_.end(),
                                    [&](const db::PlanHistory& h) { return h.plan == evidence_.untuned; });
    if (found != history_.end()) untuned_seconds_ = found->median_ns * 1e-9;
  }

  ShowRow winner() const {
    const auto found = std::find_if(history_.begin(), history_.end(),
                                    [&](const db::PlanHistory& h) { return h.plan == verdict_.plan; });
    ShowRow row = make(0, verdict_.plan, verdict_.winner_ns * 1e-9);
    if (found != history_.end()) row.error = found->worst_error, row.joules = found->joules;
    row.objective = verdict_.objective;
    row.rounds = verdict_.rounds;
    row.in_turns = true;
    set_gain_of_turns(row);
    return row;
  }
  ShowRow runner_up(int rank, const db::PlanHistory& history) const {
    ShowRow row = make(rank, history.plan, history.median_ns * 1e-9);
    row.error = history.worst_error;
    row.joules = history.joules;
    const auto rounds = rounds_of(runs_, verdict_.session, history.plan);
    row.in_turns = !rounds.empty();
    if (row.in_turns) {
      row.seconds = median_interval(rounds).median * 1e-9;
      row.speed = speed_of(problem_, row.seconds);
      set_gain_of_turns(row);
    }
    return row;
  }

 private:
  // Of rounds in which the plan and the untuned one took turns, so that all such gains of a problem compare.
  void set_gain_of_turns(ShowRow& row) const {
    const RatioInterval ratio = paired_ratio(rounds_of(runs_, verdict_.session, row.plan),
                                             rounds_of(runs_, verdict_.session, evidence_.untuned));
    if (row.plan == evidence_.untuned) {
      row.gain = row.gain_low = row.gain_high = 1;
    } else if (ratio.rounds > 0) {
      row.gain = ratio.ratio;
      row.gain_low = ratio.low;
      row.gain_high = std::isfinite(ratio.high) ? ratio.high : 0;
    }
  }
  ShowRow make(int rank, const std::string& plan, double seconds) const {
    ShowRow row;
    row.problem = verdict_.problem;
    row.rank = rank;
    row.plan = plan;
    row.seconds = seconds;
    row.speed = speed_of(problem_, seconds);
    row.speed_unit = speed_unit_of(problem_);
    if (const auto found = evidence_.set_points.find(plan); found != evidence_.set_points.end())
      row.set_points_seconds = found->second;
    if (const auto found = evidence_.state.find(plan); found != evidence_.state.end()) row.state = found->second;
    row.gain = untuned_seconds_ > 0 && seconds > 0 ? untuned_seconds_ / seconds : 0;
    row.device = verdict_.environment.device;
    row.isa = verdict_.environment.isa;
    return row;
  }

  const db::StoredVerdict& verdict_;
  const Problem problem_;
  const std::vector<db::StoredRun> runs_;
  const Evidence evidence_;
  const std::vector<db::PlanHistory> history_;
  double untuned_seconds_ = 0;
};

}  // namespace

std::optional<ShowRow> winner_row(const db::TuningStore& store, const db::StoredVerdict& verdict,
                                  const std::vector<db::StoredSession>& sessions) {
  try {
    return RowMaker(store, verdict, sessions).winner();
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::vector<ShowRow> show_rows(const db::TuningStore& store, const ShowOptions& options) {
  std::vector<ShowRow> rows;
  const std::vector<db::StoredSession> sessions = store.sessions();
  for (const db::StoredVerdict& verdict : store.winners()) {
    if (!options.problem.empty() && verdict.problem != options.problem) continue;
    const db::Freshness fresh =
        options.here ? db::freshness(verdict.environment, *options.here) : db::Freshness::current;
    if (fresh >= db::Freshness::kindred) continue;
    try {
      const RowMaker maker(store, verdict, sessions);
      rows.push_back(maker.winner());
      rows.back().freshness = fresh;
      const auto runner_ups = store.runner_ups(verdict.problem, verdict.environment);
      for (std::size_t i = 0; i < std::min(options.runner_ups, runner_ups.size()); ++i) {
        rows.push_back(maker.runner_up(static_cast<int>(i) + 1, runner_ups[i]));
        rows.back().freshness = fresh;
      }
    } catch (const Error&) {  // this version cannot read the token, so no row of it can be used here
    }
  }
  return rows;
}

}  // namespace fourtune::tuner
