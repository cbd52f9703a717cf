#include "tools/cli/tune_misses.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/text.h"
#include "generator/candidates.h"
#include "runtime/misses.h"
#include "tools/common/say.h"

namespace fourtune::tools {
namespace {

// Problems of one group serve each other.
std::string group_of(Problem problem) {
  for (std::optional<std::int64_t>* count : {&problem.m, &problem.k})
    if (*count && **count > 0) *count = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(**count)));
  return to_token(problem);
}

struct Group {
  Problem dearest;
  double most = 0, cost = 0;
};

}  // namespace

std::vector<Problem> missed_problems(const MissedRange& range, const db::TuningStore& store) {
  std::set<std::string> tuned;
  for (const db::StoredVerdict& winner : store.winners())
    if (winner.environment.backend == range.backend) tuned.insert(winner.problem);
  std::map<std::string, Group> groups;
  for (const runtime::Miss& miss : runtime::read_misses(range.file)) {
    if (miss.backend != range.backend || tuned.contains(miss.problem)) continue;
    try {
      const Problem problem = parse_problem(miss.problem);
      const double seconds =
          generator::estimate(generator::default_plan(problem, range.traits), problem, range.traits).execute;
      // A program that ended without ending its transforms says nothing of executes; each has had one at least.
      const double cost = seconds * static_cast<double>(std::max(miss.executes, miss.transforms));
      Group& group = groups[group_of(problem)];
      group.cost += cost;
      if (group.most > 0 && cost <= group.most) continue;
      group.most = cost;
      group.dearest = problem;
    } catch (const Error& error) {
      say("fourtune: note: {} is passed over: {}\n", text::shown(miss.problem), error.what());
    }
  }
  std::vector<std::pair<double, std::string>> order;
  for (const auto& [name, group] : groups) order.emplace_back(-group.cost, name);
  std::sort(order.begin(), order.end());
  if (range.most > 0 && order.size() > range.most) order.resize(range.most);
  std::vector<Problem> problems;
  for (const auto& [cost, name] : order) problems.push_back(groups.at(name).dearest);
  return problems;
}

}  // namespace fourtune::tools
