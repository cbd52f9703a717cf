#include "tuner/session/problem_tuning.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "tuner/search/replay.h"

namespace fourtune::tuner {
namespace {

// Four digits are more than a measurement provides, and recordings are kept in the repository.
double four_digits(double value) {
  if (!std::isfinite(value)) return value;
  const std::string text = fmt::format("{:.3e}", value);
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

constexpr double hopeful_evaluations = 200;  // after this many a search should be at 0.97 of the optimum

}  // namespace

double expected_cost(const Problem& problem, const SessionContext& context) {
  double execute = 0.01, set_points = 0;
  try {
    const generator::Cost cost = context.planning->expected(problem);
    execute = cost.execute;
    set_points = cost.set_points;
  } catch (const Error&) {  // the error is reported when the problem's turn comes
  }
  // An evaluation consists of planning, set_points twice, validation and about ten executes; for an fft, planning
  // dominates.
  if (generator::is_gpu(context.traits.backend)) return 2 + hopeful_evaluations * (0.15 + 200 * (execute + set_points));
  if (problem.kind == Kind::fft) return 12 * (0.1 + 60 * execute);
  return 1 + hopeful_evaluations * (0.02 + 14 * execute + 2 * set_points);
}

ProblemTuning::ProblemTuning(SessionContext& context, const Problem& problem, std::size_t index)
    : context_(context),
      problem_(problem),
      token_(to_token(problem)),
      index_(index),
      compiles_(generator::is_gpu(context.traits.backend)) {
  report_.problem = token_;
  report_.speed_unit = speed_unit_of(problem);
}

void ProblemTuning::take(const Turn& turn) {
  share_ = turn.share;
  later_ = turn.later;
  settles_ = turn.settles;
  begin_ = context_.elapsed();
  finals_reserve_ = std::isfinite(share_) ? std::clamp(0.2 * share_, 0.1, 6.0) : 6.0;
}

void ProblemTuning::search(const Turn& turn) {
  take(turn);
  load();                 // points and reference
  measure_first_plans();  // the untuned default, the incumbent, winners of neighbouring problems
  search_candidates();    // ask, measure, tell, until the share is spent
  plan_library_again();   // the planner behind the yardstick is noisy
}

ProblemReport ProblemTuning::conclude() {
  run_finals();  // the best, the incumbent and the default, interleaved
  decide();      // verdict and report
  end_step(Step::finals);
  if (!context_.options.record_folder.empty()) write_recording();
  report_.elapsed = context_.elapsed() - begin_;
  send_progress(Step::done);
  return report_;
}

// ---- 1
void ProblemTuning::plan_ahead(ListedPlans listed, const Turn& turn) {
  take(turn);
  const Planning& planning = *context_.planning;
  listed_ = std::move(listed);
  for (std::size_t i = 0; i < listed_.texts.size(); ++i) candidate_[listed_.texts[i]] = i;
  report_.candidates = listed_.texts.size();
  report_.untuned = untuned_ = planning.untuned(problem_);
  recall_history();
  report_.tuned_before = incumbent_.has_value();

  add_first_plan(untuned_, untuned_mark);
  if (incumbent_) add_first_plan(incumbent_->plan, "");
  library_ = planning.library(problem_);
  if (!library_.empty()) add_first_plan(library_, "");
  add_served_plan();
  context_.clock.lap(Task::list);
  if (!compiles_) return;
  for (const auto& [plan, mark] : first_plans_)
    if (!known_.contains(plan)) soon_.push_back(plan);
  begin_search();
  const std::vector<std::string> asked = ask_ahead();
  soon_.insert(soon_.end(), asked.begin(), asked.end());
  context_.clock.lap(Task::search);
}

// The plan that the runtime would use today: of a pack, a stale winner, or a neighbouring problem's, adapted.
void ProblemTuning::add_served_plan() {
  try {
    const std::string served = context_.planning->served(problem_, context_.store.path());
    served_ = served.empty() ? untuned_ : served;
    add_first_plan(served_, "");
  } catch (const Error&) {  // then there is no such plan
  }
}

// ---- 2
void ProblemTuning::load() {
  send_progress(Step::prepare);
  if (compiles_) add_served_plan();  // the problem before may have a winner by now
  context_.clock.lap(Task::list);
  const Spent loading = context_.evaluator.load(problem_, context_.options.seed, soon_);
  context_.clock.lap(loading, Task::worker);
  end_step(Step::prepare);
}

std::string ProblemTuning::fault_of_stored(const std::string& plan) const {
  if (candidate_.contains(plan)) return {};  // a candidate of the present planner
  return context_.planning->fault(plan, problem_);
}

// Records a row like that of any other failure, so that no later session tries the plan again.
void ProblemTuning::reject_stored(const std::string& plan, const std::string& why) {
  db::Run run;
  run.problem = token_;
  run.plan = plan;
  run.status = db::RunStatus::rejected;
  run.message = "stored, but cannot be right: " + why;
  context_.record(run);
  Known& known = known_[plan];
  known.seconds = failed;
  known.status = db::RunStatus::rejected;
}

void ProblemTuning::recall_incumbent() {
  incumbent_ = context_.store.winner(token_, context_.environment);
  while (incumbent_) {
    const std::string why = fault_of_stored(incumbent_->plan);
    if (why.empty()) return;
    const db::StoredVerdict wrong = *incumbent_;
    context_.warn(fmt::format("the stored winner of {} cannot be right ({}) and is withdrawn", token_, why));
    reject_stored(wrong.plan, why);
    withdraw(wrong.plan, why);
    incumbent_ = context_.store.winner(token_, context_.environment);
    if (incumbent_ && incumbent_->id == wrong.id) incumbent_.reset();  // the database accepts no more rows
  }
}

void ProblemTuning::withdraw(const std::string& plan, const std::string& why) {
  for (const db::StoredVerdict& verdict : context_.store.verdicts(token_))
    if (verdict.plan == plan && verdict.withdrawn.empty() &&
        db::freshness(verdict.environment, context_.environment) < db::Freshness::kindred)
      context_.withdraw(verdict.id, why);
}

void ProblemTuning::find_best() {
  best_.clear();
  best_seconds_ = best_judged_ = 0;
  for (const auto& [plan, known] : known_) compare_with_best(plan, known);
}

void ProblemTuning::recall_history() {
  recall_incumbent();
  if (problem_.points == PointClass::recorded) return;  // the points may have been recorded again since
  for (const db::PlanHistory& history : context_.store.history(token_, context_.environment)) {
    if (history.ok_runs == 0 && history.failed_runs == 0) continue;  // was only ever interrupted
    if (known_.contains(history.plan)) continue;                     // was rejected a moment ago
    Known known;
    known.status = history.last_status;
    known.error = history.worst_error;
    known.samples_ns = history.samples_ns;
    known.joules = history.joules;
    if (history.last_status == db::RunStatus::ok && history.median_ns > 0) {
      if (by_energy() && !known.joules) continue;  // it was measured for its time only
      if (const std::string why = fault_of_stored(history.plan); !why.empty()) {
        reject_stored(history.plan, why);
        continue;
      }
      known.seconds = history.median_ns * 1e-9;
      compare_with_best(history.plan, known);
    }
    known_.emplace(history.plan, known);
    ++report_.reused;
  }
}

void ProblemTuning::add_first_plan(const std::string& plan, const std::string& mark) {
  const auto same = [&](const auto& entry) { return entry.first == plan; };
  if (std::none_of(first_plans_.begin(), first_plans_.end(), same)) first_plans_.emplace_back(plan, mark);
}

void ProblemTuning::measure_first_plans() {
  send_progress(Step::untuned);
  for (const auto& [plan, mark] : first_plans_) {
    if (context_.stopped() || interrupted_) return;
    if (!known_.contains(plan)) measure(plan, mark);
    if (plan == untuned_ && working(plan)) report_.untuned_seconds = progress_.untuned_seconds = known_[plan].seconds;
    send_progress(Step::untuned);
  }
}

void ProblemTuning::begin_search() {
  constexpr double compiled_seconds = 0.1;  // of an evaluation whose kernels are compiled ahead, at most
  const SearchSpace& space = listed_.space;
  const SessionOptions& options = context_.options;
  const double spent = context_.elapsed() - begin_;
  const double each = compiles_
                          ? compiled_seconds
                          : std::max(1e-3, spent / static_cast<double>(std::max<std::size_t>(1, report_.evaluations)));
  const double affordable = std::isfinite(share_) ? (seconds_left() - finals_reserve_) / each : INFINITY;
  // A recording that the budget cuts short has the model's favourites, or with the strategy random a fair sample.
  const Strategy& strategy =
      !options.strategy.empty() ? find_strategy(options.strategy)
      : recording()             ? find_strategy("exhaustive")
                    : default_strategy(space.size(), static_cast<std::size_t>(std::clamp(affordable, 0.0, 1e9)));
  search_ = strategy.make(space, options.seed);
  for (const auto& [plan, known] : known_)
    if (const auto found = candidate_.find(plan); found != candidate_.end())
      search_->tell(found->second, judged(known));
}

void ProblemTuning::search_candidates() {
  searching_ = true;
  const SessionOptions& options = context_.options;
  if (!search_) begin_search();
  while (!context_.stopped() && !interrupted_) {
    if (options.max_evaluations > 0 && report_.evaluations >= options.max_evaluations) break;
    if (seconds_left() <= finals_reserve_) break;
    const std::vector<std::string> asked = ask_ahead();
    context_.clock.lap(Task::search);
    if (compiles_) context_.evaluator.prepare(asked);
    context_.clock.lap(Task::worker);
    if (exhausted_ = asked_.empty(); exhausted_) break;
    if (settles_ && course_.settled()) break;
    const std::size_t candidate = take_asked();
    const std::string& plan = listed_.texts[candidate];
    const auto found = known_.find(plan);  // one of the first plans
    search_->tell(candidate, found != known_.end() ? judged(found->second)
                             : hopeless(candidate) ? listed_.floor_seconds(candidate)
                                                   : judged(measure(plan, "")));
    send_progress(Step::search);
  }
}

// The first candidate that was asked for; where kernels are compiled ahead, the first whose kernels are there, so that
// one that compiles for long keeps nobody waiting.
std::size_t ProblemTuning::take_asked() {
  std::vector<std::string> plans;
  if (compiles_)
    for (const std::size_t candidate : asked_) plans.push_back(listed_.texts[candidate]);
  const std::size_t place = compiles_ ? context_.evaluator.first_ready(plans) : 0;
  const auto chosen = asked_.begin() + static_cast<std::ptrdiff_t>(place);
  const std::size_t candidate = *chosen;
  asked_.erase(chosen);
  context_.clock.lap(Task::worker);
  return candidate;
}

bool ProblemTuning::hopeless(std::size_t candidate) const {
  return !recording() && !by_energy() && best_seconds_ > 0 && listed_.floor_seconds(candidate) > best_seconds_;
}

std::vector<std::string> ProblemTuning::ask_ahead() {
  constexpr std::size_t most_ahead = 24;
  const std::size_t wanted =
      !compiles_ ? 1
                 : std::clamp<std::size_t>(static_cast<std::size_t>(std::max(0, context_.traits.cores)), 1, most_ahead);
  std::vector<std::string> plans;
  while (asked_.size() < wanted) {
    const auto candidate = search_->ask();
    if (!candidate) break;
    if (hopeless(*candidate)) {  // cannot win, so it is not measured
      search_->tell(*candidate, listed_.floor_seconds(*candidate));
      continue;
    }
    asked_.push_back(*candidate);
    plans.push_back(listed_.texts[*candidate]);
  }
  return plans;
}

// On a GPU the arrays also travel to the host and back for each validation.
double ProblemTuning::candidate_timeout() const {
  constexpr double seconds_per_byte = 4e-9;
  double seconds = context_.options.candidate_timeout;
  if (generator::is_gpu(context_.traits.backend) && problem_.type != 3)
    seconds += seconds_per_byte * 4.0 * static_cast<double>(real_bytes(problem_.precision)) *
               static_cast<double>(mode_count(problem_)) * static_cast<double>(problem_.batch);
  return seconds;
}

// Of plans that a problem cannot do without: a slow or busy machine, or a compiler beside other work, must not leave it
// without a winner.
double ProblemTuning::patient_timeout() const {
  constexpr double patience = 10;
  return patience * candidate_timeout();
}

EvaluationRequest ProblemTuning::request_for(const std::string& plan) const {
  EvaluationRequest request;
  request.plan = plan;
  const double share = std::isfinite(share_) ? share_ : 60;
  // A share then lasts for as many evaluations as a search needs; the finals resolve the remaining noise.
  request.benchmark.cpu_time = context_.options.cpu_time;
  request.benchmark.max_seconds = recording() ? 0.04 : std::clamp(share / hopeful_evaluations, 0.02, 0.5);
  request.incumbent_seconds = recording() || by_energy() || plan == untuned_ ? 0 : best_seconds_;
  request.energy = by_energy();
  // The first plans are measured even when the budget is small, above all what would run without this session; the
  // search keeps to the budget.
  const double patience =
      searching_ ? std::max(2.0, seconds_left() - finals_reserve_) : std::max({5.0, 0.5 * share, 2 * seconds_left()});
  request.timeout_seconds =
      plan == untuned_ || plan == served_ ? patient_timeout() : std::min(candidate_timeout(), patience);
  return request;
}

const ProblemTuning::Known& ProblemTuning::measure(const std::string& plan, const std::string& mark) {
  const EvaluationRequest request = request_for(plan);
  context_.clock.lap(Task::search);
  Evaluation evaluation = context_.evaluator.evaluate(request);
  context_.clock.lap(evaluation.spent, Task::worker);
  if (evaluation.status == db::RunStatus::timeout && request.timeout_seconds < candidate_timeout()) {
    evaluation.status = db::RunStatus::interrupted;  // a larger budget may try it again
    evaluation.message = fmt::format("the budget left only {:.3g} s for it", request.timeout_seconds);
  } else if (evaluation.status == db::RunStatus::interrupted) {
    interrupted_ = true;
  }
  record_evaluation(plan, mark, evaluation);
  Known known;
  known.status = evaluation.status;
  known.error = evaluation.error;
  known.set_points_seconds = evaluation.set_points_seconds;
  known.wisdom = evaluation.wisdom;
  known.samples_ns = evaluation.samples_ns;
  known.cost_seconds = evaluation.cost_seconds;
  known.unsure = evaluation.unsure;
  known.joules = evaluation.joules;
  report_.busy += evaluation.busy;
  note_clocks(evaluation.repeats, evaluation.slowed);
  if (evaluation.status == db::RunStatus::ok && !evaluation.samples_ns.empty())
    known.seconds = db::median(evaluation.samples_ns) * 1e-9;
  ++report_.evaluations;
  progress_.plan = plan;
  progress_.status = evaluation.status;
  if (evaluation.status != db::RunStatus::ok && evaluation.status != db::RunStatus::interrupted)
    note_failure(plan, evaluation.status, evaluation.message);
  compare_with_best(plan, known);
  course_.add(evaluation.cost_seconds, best_judged_);
  if (std::isfinite(judged(known))) report_.course.push_back({context_.elapsed() - begin_, plan, judged(known)});
  const Known& kept = known_[plan] = known;
  end_step(searching_ ? Step::search : Step::untuned, plan, evaluation.status, evaluation.message);
  return kept;
}

void ProblemTuning::record_evaluation(const std::string& plan, const std::string& mark, const Evaluation& evaluation,
                                      int round) {
  db::Run run;
  run.problem = token_;
  run.plan = plan;
  run.round = round;
  run.status = evaluation.status;
  run.error = evaluation.error;
  run.samples_ns = evaluation.samples_ns;
  if (problem_.kind == Kind::nufft && evaluation.set_points_seconds > 0)
    run.stages.push_back({set_points_stage, std::llround(evaluation.set_points_seconds * 1e9)});
  run.stages.insert(run.stages.end(), evaluation.stages.begin(), evaluation.stages.end());
  run.wisdom = evaluation.wisdom;
  run.memory_bytes = evaluation.memory_bytes;
  run.kernels = evaluation.kernels;
  run.state = evaluation.state;
  run.joules = evaluation.joules;
  run.message = evaluation.status == db::RunStatus::ok ? mark : evaluation.message;
  context_.record(run);
}

// A winner that gives wrong results or kills the worker must not be served any more.
void ProblemTuning::note_failure(const std::string& plan, db::RunStatus status, const std::string& message) {
  ++report_.failures;
  last_failure_ = std::string(db::to_string(status)) + ": " + message;
  if (status != db::RunStatus::wrong_result && status != db::RunStatus::crash) return;
  withdraw(plan, last_failure_);
  if (incumbent_ && incumbent_->plan == plan) incumbent_.reset();
}

bool ProblemTuning::working(const std::string& plan) const {
  const auto found = known_.find(plan);
  return found != known_.end() && std::isfinite(judged(found->second));
}

double ProblemTuning::judged(const Known& known) const {
  if (!by_energy() || !std::isfinite(known.seconds)) return known.seconds;
  return known.joules.value_or(failed);
}

void ProblemTuning::compare_with_best(const std::string& plan, const Known& known) {
  if (!(judged(known) < (best_.empty() ? failed : best_judged_))) return;
  best_ = plan;
  best_seconds_ = known.seconds;
  best_judged_ = judged(known);
}

void ProblemTuning::note_clocks(int repeats, bool slowed) {
  report_.repeats += static_cast<std::size_t>(repeats);
  report_.slowed += slowed;
}

double ProblemTuning::seconds_left() const { return share_ - (context_.elapsed() - begin_); }

void ProblemTuning::end_step(Step step, const std::string& plan, db::RunStatus status, const std::string& message) {
  Trace trace;
  trace.problem = token_;
  trace.step = step;
  trace.plan = plan;
  trace.status = status;
  trace.message = message;
  if (!plan.empty() && working(plan)) trace.seconds = known_[plan].seconds;
  report_.spent += context_.end_step(std::move(trace));
}

void ProblemTuning::send_progress(Step step) {
  if (!context_.options.progress) return;
  progress_.problem = index_;
  progress_.problems = context_.options.problems.size();
  progress_.token = token_;
  progress_.step = step;
  progress_.candidates = report_.candidates;
  progress_.evaluations = report_.evaluations;
  progress_.reused = report_.reused;
  progress_.failures = report_.failures;
  progress_.best_seconds = best_seconds_;
  progress_.elapsed = context_.elapsed();
  // This problem's remaining time is its share, or less when the candidates run out first. For the others it is the
  // model's estimate or the rest of the budget.
  const double each = (progress_.elapsed - begin_) / static_cast<double>(std::max<std::size_t>(1, report_.evaluations));
  const double todo =
      static_cast<double>(report_.candidates) - static_cast<double>(report_.evaluations + report_.reused);
  const double mine =
      step == Step::done ? 0 : std::min(std::max(0.0, seconds_left()), std::max(0.0, todo) * each + finals_reserve_);
  progress_.eta = std::min(context_.left(), mine + later_);
  context_.options.progress(progress_);
}

void ProblemTuning::write_recording() const {
  Recording recording;
  recording.name = token_;
  recording.axes = listed_.axes;
  bool any = false;
  for (std::size_t i = 0; i < listed_.texts.size(); ++i) {
    const auto found = known_.find(listed_.texts[i]);  // candidates that the budget did not reach are left out
    if (found == known_.end() || found->second.status == db::RunStatus::interrupted) continue;
    recording.space.coordinates.push_back(listed_.space.coordinates[i]);
    recording.space.estimates.push_back(four_digits(listed_.space.estimates[i]));
    recording.seconds.push_back(four_digits(found->second.seconds));
    any = any || working(listed_.texts[i]);
  }
  if (!any) return;
  std::string name = token_;
  for (char& c : name)
    if (c == ':' || c == ',' || c == '=' || c == '/') c = '_';
  const std::filesystem::path folder = context_.options.record_folder;
  std::error_code ignored;
  std::filesystem::create_directories(folder, ignored);
  std::ofstream out(folder / (name + ".csv"));
  out << "# " << token_ << '\n';
  if (compiles_) out << "# " << context_.traits.name << '\n';
  if (context_.options.cpu_time) out << "# one thread, its CPU time\n";
  try {
    tuner::write_recording(out, recording);
  } catch (const Error& error) {
    context_.warn((folder / name).string() + ".csv: " + error.what());
  }
}

}  // namespace fourtune::tuner
