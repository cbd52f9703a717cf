#include "tools/cli/tune_drawn.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <span>

#include "tools/common/errors.h"
#include "tools/common/problem_draw.h"

namespace fourtune::tools {
namespace {

constexpr double seconds_each = 6;

// How many times as long as the tuned plan a choice takes: the geometric mean over problems, and the worst.
struct Distance {
  double logs = 0, worst = 1;
  std::string worst_problem;
  std::size_t count = 0;

  void add(const tuner::ProblemReport& problem, double seconds) {
    if (!(seconds > 0)) return;
    const double ratio = std::max(1.0, seconds / problem.seconds);
    logs += std::log(ratio);
    ++count;
    if (ratio > worst) worst = ratio, worst_problem = problem.problem;
  }
  std::string text() const {
    if (count == 0) return "not measured";
    const double mean = std::exp(logs / static_cast<double>(count));
    const std::string most = worst_problem.empty() ? "" : fmt::format(", at most {:.2f} ({})", worst, worst_problem);
    return fmt::format("{:.2f} of the tuned plan's time{}", mean, most);
  }
};

std::string part_text(const char* name, std::span<const tuner::ProblemReport* const> part) {
  Distance model, served;
  for (const tuner::ProblemReport* problem : part) {
    model.add(*problem, problem->untuned_seconds);
    served.add(*problem, problem->served_seconds);
  }
  return fmt::format("  {} {}:\n    by this database   {}\n    by the cost model  {}\n", name, part.size(),
                     served.text(), model.text());
}

}  // namespace

std::vector<Kind> drawn_kinds(const std::string& text) {
  std::vector<Kind> kinds;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string word = text.substr(at, end - at);
    at = end + 1;
    if (word != "fft" && word != "nufft")
      throw UsageError(fmt::format("--drawn {}: '{}' is not a kind of problem", text, word), "fft, nufft or fft,nufft");
    const Kind kind = word == "fft" ? Kind::fft : Kind::nufft;
    if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) kinds.push_back(kind);
  }
  return kinds;
}

std::vector<Problem> drawn_problems(const DrawnRange& range, std::size_t count) {
  if (!(range.megabytes >= kLeastMegabytes))
    throw UsageError(fmt::format("--megabytes {}: no problem is that small", range.megabytes),
                     fmt::format("{} is the least", kLeastMegabytes));
  std::vector<ProblemDraw> draws;
  for (const Kind kind : range.kinds) draws.emplace_back(kind, range.seed, range.megabytes);
  std::vector<Problem> problems;
  std::set<std::string> seen;
  while (problems.size() < count) {
    const Problem problem = parse_problem(draws[problems.size() % draws.size()].next());
    if (seen.insert(to_token(problem)).second) problems.push_back(problem);
  }
  return problems;
}

std::size_t drawn_count(double seconds) {
  return static_cast<std::size_t>(std::clamp(seconds / seconds_each, 1.0, 1e5));
}

std::string drawn_summary(const tuner::Report& report) {
  std::vector<const tuner::ProblemReport*> fresh;
  for (const tuner::ProblemReport& problem : report.problems)
    if (!problem.tuned_before && !problem.winner.empty() && problem.seconds > 0) fresh.push_back(&problem);
  if (fresh.empty()) return "no drawn problem was new to the database; another --seed draws others\n";
  std::string text =
      fmt::format("{} drawn problems, new to the database; what an untuned choice took for\n", fresh.size());
  const std::size_t third = (fresh.size() + 2) / 3;
  const std::span<const tuner::ProblemReport* const> all(fresh);
  if (fresh.size() > third) text += part_text("the first", all.first(third));
  return text + part_text(fresh.size() > third ? "the last" : "all", all.last(third));
}

}  // namespace fourtune::tools
