#include "tuner/session/pace.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace fourtune::tuner {

std::optional<double> seconds_to_winner(const ProblemReport& problem, double within) {
  const auto& course = problem.course;
  const auto won =
      std::find_if(course.begin(), course.end(), [&](const Measured& one) { return one.plan == problem.winner; });
  if (problem.winner.empty() || won == course.end()) return std::nullopt;
  const double enough = (1 + within) * won->judged;
  return std::find_if(course.begin(), won, [&](const Measured& one) { return one.judged <= enough; })->at;
}

std::string pace_summary(const Report& report) {
  constexpr double early = 5;
  if (report.evaluations == 0 || !(report.elapsed > 0)) return {};
  std::string text = fmt::format("{} plans in {:.1f} s, {:.1f} per second; {:.1f} % failed\n", report.evaluations,
                                 report.elapsed, static_cast<double>(report.evaluations) / report.elapsed,
                                 100 * static_cast<double>(report.failures) / static_cast<double>(report.evaluations));
  std::vector<double> times;
  for (const ProblemReport& problem : report.problems)
    if (const auto seconds = seconds_to_winner(problem)) times.push_back(*seconds);
  if (times.empty()) return text;
  std::sort(times.begin(), times.end());
  const auto soon = std::upper_bound(times.begin(), times.end(), early) - times.begin();
  return text + fmt::format(
                    "within 3 % of the winner after {:g} s: {} of {} problems ({:.0f} %); half of them after {:.2g} s, "
                    "the last after {:.2g} s\n",
                    early, soon, times.size(), 100 * static_cast<double>(soon) / static_cast<double>(times.size()),
                    times[(times.size() - 1) / 2], times.back());
}

}  // namespace fourtune::tuner
