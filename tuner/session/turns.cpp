#include "tuner/session/turns.h"

#include <algorithm>
#include <cmath>
#include <future>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>

#include "tuner/session/problem_tuning.h"

namespace fourtune::tuner {
namespace {

// Splits a budget in proportion to the expected costs, but no share is below a third of an equal share.
std::vector<double> shares_of(const std::vector<double>& costs, double budget) {
  const double equal = std::accumulate(costs.begin(), costs.end(), 0.0) / static_cast<double>(costs.size());
  std::vector<double> shares;
  for (const double cost : costs) shares.push_back(std::max(cost, equal / 3));
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  for (double& share : shares) share *= std::isfinite(budget) ? budget / sum : budget;
  return shares;
}

// The report of a problem that had two turns. A second one that was stopped takes nothing back.
ProblemReport joined(const ProblemReport& before, const ProblemReport& after) {
  ProblemReport both = after.winner.empty() ? before : after;
  both.evaluations = before.evaluations + after.evaluations;
  both.failures = before.failures + after.failures;
  both.reused = before.reused;
  both.repeats = before.repeats + after.repeats;
  both.slowed = before.slowed + after.slowed;
  both.served = before.served;
  both.served_seconds = before.served_seconds;
  both.tuned_before = before.tuned_before;
  both.elapsed = before.elapsed + after.elapsed;
  both.course = before.course;
  for (Measured later : after.course) {
    later.at += before.elapsed;
    both.course.push_back(std::move(later));
  }
  both.spent = before.spent;
  both.spent += after.spent;
  both.new_verdict = before.new_verdict || after.new_verdict;
  if (!before.replaced.empty()) both.replaced = before.replaced;
  return both;
}

ProblemReport failure(const Problem& problem, const std::string& why) {
  ProblemReport report;
  report.problem = to_token(problem);
  report.speed_unit = speed_unit_of(problem);
  report.note = why;
  return report;
}

class Turns {
 public:
  Turns(SessionContext& context, const std::vector<Problem>& problems, const std::vector<double>& costs)
      : context_(context),
        problems_(problems),
        costs_(costs),
        shares_(shares_of(costs, context.left())),
        // On a GPU a processor waits for the device most of the time, so that the next problem can be prepared on it.
        overlaps_(generator::is_gpu(context.traits.backend)),
        again_(problems.size()) {
    const SessionOptions& options = context_.options;
    several_ = problems_.size() > 1 && std::isfinite(context_.left()) && !options.measure_everything &&
               options.record_folder.empty() && options.max_evaluations == 0;
  }

  void first() {
    for (std::size_t i = 0; i < problems_.size() && !context_.stopped() && !ended_; ++i)
      if (auto report = tune(i, first_turn(i), true)) context_.report.problems.push_back(std::move(*report));
  }

  void further() {
    constexpr double least_seconds = 2;  // setting a problem up, and its finals, take a good part of that
    next_.reset();
    const double budget = context_.options.seconds;
    const double usual = std::max(least_seconds, budget / static_cast<double>(problems_.size()));
    while (several_ && !context_.stopped() && !ended_ && context_.left() >= least_seconds) {
      const auto next = std::max_element(again_.begin(), again_.end());
      const auto count = std::count_if(again_.begin(), again_.end(), [](double gain) { return gain > 0; });
      if (count == 0) return;
      const auto index = static_cast<std::size_t>(next - again_.begin());
      const double share = std::max(usual, context_.left() / static_cast<double>(count));
      ProblemReport& report = context_.report.problems[index];
      if (auto more = tune(index, {std::min(share, context_.left()), 0, count > 1}, false))
        report = joined(report, *more);
    }
  }

 private:
  Turn first_turn(std::size_t index) const {
    const auto later = std::accumulate(costs_.begin() + static_cast<std::ptrdiff_t>(index) + 1, costs_.end(), 0.0);
    const double left = context_.left();
    if (!std::isfinite(left)) return {left, later, false};
    // Not more than what is left by now, as some have taken more than their shares. What others have left is kept for
    // further turns, if there will be any.
    const double rest = std::accumulate(shares_.begin() + static_cast<std::ptrdiff_t>(index), shares_.end(), 0.0);
    const double fair = rest > 0 ? left * shares_[index] / rest : 0;  // 0: nothing was left when the session began
    return {several_ ? std::min(shares_[index], fair) : fair, later, several_};
  }

  ListedPlans list(std::size_t index) const { return context_.planning->list(problems_[index]); }

  // Nothing when the session ends here. in_order: the next problem is the one that follows in the list.
  std::optional<ProblemReport> tune(std::size_t index, const Turn& turn, bool in_order) {
    again_[index] = 0;
    try {
      std::unique_ptr<ProblemTuning> tuning = std::exchange(next_, nullptr);
      if (!tuning) {
        tuning = std::make_unique<ProblemTuning>(context_, problems_[index], index);
        tuning->plan_ahead(list(index), turn);
      }
      std::future<ListedPlans> listed;
      if (in_order && overlaps_ && index + 1 < problems_.size())
        listed = std::async(std::launch::async, [this, index] { return list(index + 1); });
      tuning->search(turn);
      if (listed.valid()) prepare_next(index + 1, listed);
      ProblemReport report = tuning->conclude();
      // Recorded points may be others next time, so that everything would be measured again.
      if (!tuning->exhausted() && problems_[index].points != PointClass::recorded && report.evaluations > 0)
        again_[index] = tuning->course().gain_per_second();
      return report;
    } catch (const Error& error) {
      ended_ = error.status() == Status::interrupted;
      return ended_ ? std::nullopt : std::optional(failure(problems_[index], error.what()));
    }
  }

  // While the present problem is in its finals, the first kernels of the next one are compiled.
  void prepare_next(std::size_t index, std::future<ListedPlans>& listed) {
    try {
      auto next = std::make_unique<ProblemTuning>(context_, problems_[index], index);
      next->plan_ahead(listed.get(), first_turn(index));
      context_.evaluator.announce(problems_[index], next->first());
      context_.clock.lap(Task::worker);
      next_ = std::move(next);
    } catch (const Error&) {  // it is thrown again, and reported, when the problem's turn comes
    }
  }

  SessionContext& context_;
  const std::vector<Problem>& problems_;
  const std::vector<double>& costs_;
  const std::vector<double> shares_;  // seconds of first turns
  const bool overlaps_;
  bool several_ = false, ended_ = false;
  std::vector<double> again_;            // the gain per second that is expected of another turn
  std::unique_ptr<ProblemTuning> next_;  // prepared already
};

}  // namespace

void take_turns(SessionContext& context, const std::vector<Problem>& problems, const std::vector<double>& costs) {
  Turns turns(context, problems, costs);
  turns.first();
  turns.further();
}

}  // namespace fourtune::tuner
