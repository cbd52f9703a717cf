// The end of tuning one problem: interleaved rounds of the finalists and the incumbent, the verdict, the report.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "runtime/validity.h"
#include "tuner/session/problem_tuning.h"

namespace fourtune::tuner {
namespace {

constexpr std::size_t most_finalists = 4;
constexpr int most_attempts = 6;         // each failed attempt removes at least one plan
constexpr double finalist_margin = 1.1;  // a plan slower than the search's best by more than this is no finalist
// The incumbent is replaced only when the whole interval of the ratio is above this. It is slightly above 1, because
// the challenger is the best of several and part of its lead is luck.
constexpr double replace_margin = 1.005;
constexpr std::size_t fewest_rounds = 6;   // paired_ratio proves nothing by fewer
constexpr int most_busy_finals = 3;        // finals of a busy machine are repeated so often
constexpr double short_finals = 0.3;       // seconds that repeats have even when the problem's share is spent
constexpr int most_library_plannings = 3;  // in one environment, over all sessions

double median_seconds(const std::vector<std::int64_t>& samples) { return median_interval(samples).median * 1e-9; }

}  // namespace

std::vector<db::StoredRun> ProblemTuning::runs_here() const {
  std::set<db::SessionId> here;
  for (const db::StoredSession& session : context_.store.sessions())
    if (session.environment == context_.environment) here.insert(session.id);
  std::vector<db::StoredRun> runs = context_.store.runs(token_);
  std::erase_if(runs, [&](const db::StoredRun& run) { return !here.contains(run.session); });
  return runs;
}

int ProblemTuning::library_plannings() const {
  int count = 0;
  for (const db::StoredRun& run : runs_here())
    if (run.plan == library_ && run.status == db::RunStatus::ok &&
        (run.round == 0 || run.message == planned_again_mark))
      ++count;
  return count;
}

// FFTW's planner times its choices and may be disturbed: a second planning with the same rigor can run 1.5 times as
// fast. FFTW's plan is the yardstick of every fft, so an unlucky planning must not stay. It is planned again, and every
// planning that differs goes to the finals. Its wisdom is stored only there, if it is the best of them.
void ProblemTuning::plan_library_again() {
  if (library_.empty() || generator::is_gpu(context_.traits.backend) || recording() || !working(library_)) return;
  std::vector<std::string> seen{wisdom_of(library_)};
  for (int done = library_plannings(); done < most_library_plannings; ++done) {
    // The search may have spent the whole share; a tenth of it is available for this in any case.
    const double patience = std::max(seconds_left() - finals_reserve_, std::isfinite(share_) ? 0.1 * share_ : 60.0);
    if (context_.stopped() || interrupted_ || known_[library_].cost_seconds > patience) return;
    EvaluationRequest request = request_for(library_);
    request.incumbent_seconds = 0;
    request.timeout_seconds = std::min(context_.options.candidate_timeout,
                                       std::max(request.timeout_seconds, 2 + 3 * known_[library_].cost_seconds));
    context_.clock.lap(Task::search);
    Evaluation evaluation = context_.evaluator.evaluate(request);
    context_.clock.lap(evaluation.spent, Task::worker);
    if (evaluation.status == db::RunStatus::interrupted) interrupted_ = true;
    if (evaluation.status != db::RunStatus::ok) return;  // the planning that worked stays
    const std::string wisdom = std::exchange(evaluation.wisdom, {});
    record_evaluation(library_, planned_again_mark, evaluation, 1);
    if (wisdom.empty() || std::find(seen.begin(), seen.end(), wisdom) != seen.end()) continue;
    seen.push_back(wisdom);
    library_wisdom_.push_back(wisdom);
  }
}

std::vector<ProblemTuning::Finalist> ProblemTuning::finalists() const {
  std::vector<std::pair<double, std::string>> ranking;
  for (const auto& [plan, known] : known_)
    if (working(plan)) ranking.emplace_back(judged(known), plan);
  std::sort(ranking.begin(), ranking.end());
  std::vector<Finalist> plans;
  for (const auto& [seconds, plan] : ranking)
    if (plans.size() < most_finalists && seconds <= finalist_margin * ranking.front().first)
      plans.push_back({plan, wisdom_of(plan)});
  const auto add = [&](const std::string& plan) {
    const auto same = [&](const Finalist& entry) { return entry.plan == plan; };
    if (working(plan) && std::none_of(plans.begin(), plans.end(), same)) plans.push_back({plan, wisdom_of(plan)});
  };
  if (incumbent_) add(incumbent_->plan);
  add(untuned_);
  add(served_);
  add(library_);
  for (const std::string& wisdom : library_wisdom_) plans.push_back({library_, wisdom});
  return plans;
}

// For plans that this session did not measure, the wisdom is in the database.
std::string ProblemTuning::wisdom_of(const std::string& plan) const {
  const auto found = known_.find(plan);
  if (found != known_.end() && !found->second.wisdom.empty()) return found->second.wisdom;
  return context_.store.wisdom(token_, plan, context_.environment);
}
double ProblemTuning::set_points_of(const std::string& plan) const {
  const auto found = known_.find(plan);
  if (found != known_.end() && found->second.set_points_seconds > 0) return found->second.set_points_seconds;
  double seconds = 0;
  for (const db::StoredRun& run : runs_here())
    if (run.plan == plan)
      for (const db::StageNs& stage : run.stages)
        if (stage.stage == set_points_stage) seconds = static_cast<double>(stage.ns) * 1e-9;
  return seconds;
}

void ProblemTuning::run_finals() {
  if (recording() || interrupted_ || context_.stopped()) return;
  send_progress(Step::finals);
  std::vector<Finalist> plans = finalists();
  if (plans.size() == 1) confirm(plans.front().plan);
  int busy_finals = 0;
  for (int attempt = 0; attempt < most_attempts && plans.size() >= 2; ++attempt) {
    FinalsRequest request;
    request.benchmark.cpu_time = context_.options.cpu_time;
    request.energy = by_energy();
    double round = 0;
    for (const Finalist& finalist : plans) {
      request.plans.push_back(finalist.plan);
      request.wisdom.push_back(finalist.wisdom);
      round += known_[finalist.plan].seconds;
    }
    request.seed = context_.options.seed + static_cast<std::uint64_t>(attempt);
    const double least = busy_finals > 0 ? std::max(short_finals, finals_reserve_ / 2) : finals_reserve_ / 2;
    request.seconds =
        std::max(least, std::isfinite(share_) ? std::min(seconds_left(), settles_ ? finals_reserve_ : 10.0) : 4.0);
    request.timeout_seconds = candidate_timeout() * static_cast<double>(plans.size()) +
                              3 * (request.seconds + 3 * round * request.min_rounds);
    if (by_energy()) request.timeout_seconds += 5.0 * energy_rounds * static_cast<double>(plans.size());
    context_.clock.lap(Task::search);
    const FinalsResult result = context_.evaluator.finals(request);
    context_.clock.lap(result.spent, Task::worker);
    if (result.status != db::RunStatus::ok) {
      if (!drop_from_finals(plans, result)) return;
      continue;
    }
    report_.busy += result.busy;
    note_clocks(result.repeats, result.slowed);
    if (too_busy(result)) {
      report_.undecided = true;
      const bool worth_it = seconds_left() >= request.seconds || request.seconds <= short_finals;
      if (++busy_finals >= most_busy_finals || !worth_it || context_.stopped()) return;
      continue;
    }
    report_.undecided = false;
    adopt_finals(plans, result);
    if (confirm(choose().winner)) return;
    rounds_.clear();
    energies_.clear();
    plans = finalists();
  }
}

bool ProblemTuning::too_busy(const FinalsResult& result) {
  return result.busy.disturbed > 0 &&
         std::any_of(result.samples_ns.begin(), result.samples_ns.end(),
                     [](const std::vector<std::int64_t>& samples) { return samples.size() < fewest_rounds; });
}

// On a GPU a search tests no adjoints, which have other kernels (ProblemData::validate). So the plan that is
// about to win is tested alone. Returns false when it is wrong, and no winner any more.
bool ProblemTuning::confirm(const std::string& winner) {
  const bool has_adjoint = problem_.kind == Kind::nufft || problem_.fft_type == FftType::c2c;
  if (!compiles_ || !has_adjoint || interrupted_ || (incumbent_ && incumbent_->plan == winner)) return true;
  EvaluationRequest request = request_for(winner);
  request.adjoint = true;
  request.timeout_seconds = patient_timeout();
  context_.clock.lap(Task::search);
  const Evaluation evaluation = context_.evaluator.evaluate(request);
  context_.clock.lap(evaluation.spent, Task::worker);
  if (evaluation.status == db::RunStatus::ok) return true;
  if (evaluation.status == db::RunStatus::interrupted)
    interrupted_ = true;
  else
    note_final_failure(winner, evaluation.status, evaluation.message);
  return interrupted_;
}

void ProblemTuning::note_final_failure(const std::string& plan, db::RunStatus status, const std::string& message) {
  db::Run run;
  run.problem = token_;
  run.plan = plan;
  run.round = 1;
  run.status = status;
  run.message = "in the finals: " + message;
  context_.record(run);
  known_[plan].seconds = failed;
  known_[plan].status = status;
  note_failure(plan, status, run.message);
  find_best();
}

// After a failed final, keeps the finalists without the plan that failed, or only the two that matter when it is
// unknown which plan failed.
bool ProblemTuning::drop_from_finals(std::vector<Finalist>& plans, const FinalsResult& result) {
  if (result.status == db::RunStatus::interrupted) {
    interrupted_ = true;
    return false;
  }
  if (result.culprit >= 0 && static_cast<std::size_t>(result.culprit) < plans.size()) {
    note_final_failure(std::string(plans[static_cast<std::size_t>(result.culprit)].plan), result.status,
                       result.message);
    plans = finalists();  // plans that were too slow beside the failed one may qualify now
    return true;
  }
  report_.note = "the finals failed: " + result.message;
  if (plans.size() <= 2) return false;
  const std::string base = incumbent_ && working(incumbent_->plan) ? incumbent_->plan : untuned_;
  plans = {plans.front(), {base, wisdom_of(base)}};
  return plans[0].plan != plans[1].plan;
}

void ProblemTuning::adopt_finals(const std::vector<Finalist>& plans, const FinalsResult& result) {
  const std::size_t count = std::min(plans.size(), result.samples_ns.size());
  std::map<std::string, std::size_t> best;  // the fastest planning of each plan
  for (std::size_t p = 0; p < count; ++p) {
    const auto [entry, first] = best.emplace(plans[p].plan, p);
    if (!first && median_seconds(result.samples_ns[p]) < median_seconds(result.samples_ns[entry->second]))
      entry->second = p;
  }
  for (std::size_t p = 0; p < count; ++p) {
    const std::string& plan = plans[p].plan;
    db::Run run;
    run.problem = token_;
    run.plan = plan;
    run.round = 1;
    run.error = known_[plan].error;
    run.samples_ns = result.samples_ns[p];
    run.state = result.state;
    if (p < result.energy_nj.size()) run.joules = db::median(result.energy_nj[p]) * 1e-9;
    if (p < result.stages.size()) run.stages = result.stages[p];
    if (plan == untuned_) run.message = untuned_mark;
    if (best[plan] == p) {
      run.wisdom = known_[plan].wisdom = plans[p].wisdom;
      rounds_[plan] = result.samples_ns[p];
      if (p < result.energy_nj.size()) energies_[plan] = result.energy_nj[p];
    }
    if (p < result.kernels.size()) run.kernels = result.kernels[p];
    context_.record(run);
  }
}

ProblemTuning::Choice ProblemTuning::choose() {
  Choice choice;
  // The plan to beat: the incumbent, else the untuned default, else (both failed) nothing.
  choice.base = incumbent_ && working(incumbent_->plan) ? incumbent_->plan : working(untuned_) ? untuned_ : best_;
  choice.winner = choice.base;
  auto& rounds = judged_rounds();
  for (const auto& [plan, samples] : rounds)
    if (median_interval(samples).median < median_interval(rounds[choice.winner]).median) choice.winner = plan;
  choice.ratio = {1, 1, 1, static_cast<int>(rounds[choice.base].size())};
  if (choice.winner != choice.base) {
    choice.ratio = paired_ratio(rounds[choice.winner], rounds[choice.base]);
    if (!(choice.ratio.low > replace_margin)) {
      choice.winner = choice.base;
      choice.ratio = {1, 1, 1, choice.ratio.rounds};
    }
  }
  return choice;
}

void ProblemTuning::decide() {
  if (recording()) {
    report_.winner = best_;
    if (!best_.empty()) fill_times(best_);
    return;
  }
  if (interrupted_ || context_.stopped()) {
    report_.note = "stopped before the finals; run again to go on";
    if (!best_.empty()) fill_times(best_);
    return;
  }
  if (best_.empty() || !working(best_)) {
    report_.note = report_.failures > 0 ? "no plan gave a right result; the last: " + last_failure_
                                        : "no plan was measured within the budget";
    return;
  }
  if (report_.undecided || (rounds_.empty() && known_[best_].unsure)) return leave_undecided();
  const auto [base, winner, ratio] = choose();
  fill_times(winner);
  report_.winner = winner;
  if (incumbent_ && incumbent_->plan == winner) return;
  db::Verdict verdict;
  verdict.problem = token_;
  verdict.plan = winner;
  verdict.validity = runtime::validity_of(problem_);
  verdict.winner_ns = report_.seconds * 1e9;
  if (winner != base) {
    verdict.replaces = base;
    verdict.incumbent_ns = median_seconds(rounds_[base]) * 1e9;
  }
  verdict.ratio_low = ratio.low;
  verdict.ratio_high = ratio.high;
  verdict.rounds = ratio.rounds;
  verdict.objective = context_.options.objective;
  context_.record(verdict);
  report_.new_verdict = true;
  if (incumbent_) report_.replaced = incumbent_->plan;
}

// Other load than ours decides nothing: a winner that there was stays, and none is crowned.
void ProblemTuning::leave_undecided() {
  report_.undecided = true;
  report_.note = report_.busy.text() + ", too busy to judge; run again when it is quiet, or with --cpu-time";
  if (!incumbent_ || !working(incumbent_->plan)) return;
  report_.winner = incumbent_->plan;
  report_.seconds = report_.low = report_.high = incumbent_->winner_ns * 1e-9;
  report_.speed = speed_of(problem_, report_.seconds);
  report_.error = known_[report_.winner].error;
  report_.gain_low = 0;
  report_.gain_high = std::numeric_limits<double>::infinity();
}

// Takes energies from the rounds if there are any, else from the search; their ratio is the gain.
void ProblemTuning::fill_energies(const std::string& winner) {
  const auto joules_of = [&](const std::string& plan) -> std::optional<double> {
    const auto found = energies_.find(plan);
    return found != energies_.end() ? db::median(found->second) * 1e-9 : known_[plan].joules;
  };
  report_.joules = joules_of(winner);
  report_.gain_low = 0;
  report_.gain_high = std::numeric_limits<double>::infinity();
  if (!working(untuned_)) return;
  report_.untuned_joules = joules_of(untuned_);
  report_.untuned_seconds = known_[untuned_].seconds;
  if (winner == untuned_) {
    report_.gain = report_.gain_low = report_.gain_high = 1;
  } else if (energies_.contains(winner) && energies_.contains(untuned_)) {
    const RatioInterval ratio = paired_ratio(energies_[winner], energies_[untuned_]);
    report_.gain = ratio.ratio;
    report_.gain_low = ratio.low;
    report_.gain_high = ratio.high;
  } else if (report_.joules && report_.untuned_joules) {
    report_.gain = *report_.untuned_joules / *report_.joules;
  }
}

// Takes times from the interleaved rounds if there are any, else from the search.
void ProblemTuning::fill_times(const std::string& winner) {
  const Known& known = known_[winner];
  const auto samples_of = [&](const std::string& plan) -> const std::vector<std::int64_t>& {
    const auto found = rounds_.find(plan);
    return found != rounds_.end() && !found->second.empty() ? found->second : known_[plan].samples_ns;
  };
  const MedianInterval interval = median_interval(samples_of(winner));
  report_.seconds = interval.median * 1e-9;
  report_.low = interval.low * 1e-9;
  report_.high = interval.high * 1e-9;
  report_.error = known.error;
  report_.set_points_seconds = set_points_of(winner);
  report_.speed = speed_of(problem_, report_.seconds);
  report_.served = served_;
  if (working(served_)) report_.served_seconds = median_seconds(samples_of(served_));
  if (by_energy()) return fill_energies(winner);
  if (!working(untuned_)) {
    report_.gain_low = 0;
    report_.gain_high = std::numeric_limits<double>::infinity();
    return;
  }
  report_.untuned_seconds = median_seconds(samples_of(untuned_));
  report_.gain = report_.untuned_seconds / report_.seconds;
  if (winner == untuned_) {
    report_.gain = 1;
  } else if (rounds_.contains(winner) && rounds_.contains(untuned_)) {
    const RatioInterval ratio = paired_ratio(rounds_[winner], rounds_[untuned_]);
    report_.gain = ratio.ratio;
    report_.gain_low = ratio.low;
    report_.gain_high = ratio.high;
  }
}

}  // namespace fourtune::tuner
