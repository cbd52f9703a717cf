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

// Splits the remaining budget in proportion to the expected costs, but no share is below a third of an equal share.
double share_of(const std::vector<double>& costs, std::size_t index, double left) {
  if (!std::isfinite(left)) return left;
  const auto begin = costs.begin() + static_cast<std::ptrdiff_t>(index);
  const double equal = std::accumulate(begin, costs.end(), 0.0) / static_cast<double>(costs.end() - begin);
  const auto weight = [&](double cost) { return std::max(cost, equal / 3); };
  double sum = 0;
  for (auto cost = begin; cost != costs.end(); ++cost) sum += weight(*cost);
  return left * weight(costs[index]) / sum;
}

// The report of a problem that had two turns. A second one that was stopped takes nothing back.
ProblemReport joined(const ProblemReport& before, const ProblemReport& after) {
  ProblemReport both = after.winner.empty() ? before : after;
  both.evaluations = before.evaluations + after.evaluations;
  both.failures = before.failures + after.failures;
  both.reused = before.reused;
  both.elapsed = before.elapsed + after.elapsed;
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
        // On a GPU a processor waits for the device most of the time, so that the next problem can be prepared on it.
        overlaps_(generator::is_gpu(context.traits.backend)),
        again_(problems.size()) {
    constexpr double first_part = 0.7;
    const SessionOptions& options = context_.options;
    several_ = problems_.size() > 1 && std::isfinite(context_.left()) && !options.measure_everything &&
               options.record_folder.empty();
    if (several_) kept_ = (1 - first_part) * context_.left();
  }

  void first() {
    for (std::size_t i = 0; i < problems_.size() && !context_.stopped() && !ended_; ++i)
      if (auto report = tune(i, first_turn(i), true)) context_.report.problems.push_back(std::move(*report));
  }

  void further() {
    constexpr double least_seconds = 2;  // less goes into setting a problem up
    next_.reset();
    while (several_ && !context_.stopped() && !ended_ && context_.left() >= least_seconds) {
      const auto next = std::max_element(again_.begin(), again_.end());
      const auto count = std::count_if(again_.begin(), again_.end(), [](double gain) { return gain > 0; });
      if (count == 0) return;
      const auto index = static_cast<std::size_t>(next - again_.begin());
      const double share = std::max(least_seconds, context_.left() / static_cast<double>(count));
      ProblemReport& report = context_.report.problems[index];
      if (auto more = tune(index, {std::min(share, context_.left()), 0, count > 1}, false))
        report = joined(report, *more);
    }
  }

 private:
  Turn first_turn(std::size_t index) const {
    const auto later = std::accumulate(costs_.begin() + static_cast<std::ptrdiff_t>(index) + 1, costs_.end(), 0.0);
    return {share_of(costs_, index, std::max(0.0, context_.left() - kept_)), later, several_};
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
  const bool overlaps_;
  bool several_ = false, ended_ = false;
  double kept_ = 0;                      // seconds for further turns
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
