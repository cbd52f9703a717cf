#include "tools/bench/plan_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "fourtune/status.h"
#include "generator/plan/plan_text.h"
#include "tools/common/errors.h"
#include "tuner/measure/validate.h"

namespace fourtune::tools {

Problem as_bound(const Problem& problem) { return parse_problem(to_token(tuner::bound_problem(problem))); }

PlanList plans_from_file(const std::string& name) {
  constexpr std::string_view blanks = " \t\r";
  std::error_code error;
  if (!std::filesystem::is_regular_file(name, error))
    throw UsageError(fmt::format("{}: no such file", name), "give a text file with a problem and a plan on each line");
  std::ifstream file(name);
  if (!file) throw UsageError(fmt::format("{}: cannot be read", name));
  PlanList out;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    const std::size_t first = line.find_first_not_of(blanks);
    if (first == line.npos || line[first] == '#') continue;
    line = line.substr(first, line.find_last_not_of(blanks) - first + 1);
    const std::size_t end = line.find_first_of(blanks), plan = line.find_first_not_of(blanks, end);
    try {
      const Problem problem = as_bound(parse_typed_problem(line.substr(0, end)));
      if (plan == line.npos)
        throw Error(Status::invalid_plan, "a problem and a plan are expected, and this has no plan");
      generator::parse_plan(line.substr(plan), problem);
      if (std::find(out.problems.begin(), out.problems.end(), problem) == out.problems.end())
        out.problems.push_back(problem);
      out.plans[to_token(problem)].push_back(line.substr(plan));
    } catch (const Error& bad) {
      throw UsageError(fmt::format("{}:{}: {}", name, number, bad.what()));
    }
  }
  if (out.problems.empty()) throw UsageError(fmt::format("{}: lists no plan", name));
  return out;
}

}  // namespace fourtune::tools
