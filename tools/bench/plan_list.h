// Plans of ours that a file lists, problem by problem.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "fourtune/problem.h"

namespace fourtune::tools {

struct PlanList {
  std::vector<Problem> problems;                          // bound, in the file's order, each once
  std::map<std::string, std::vector<std::string>> plans;  // by the token of the bound problem
};

// Lines of a problem token and a plan text with blanks between them; '#' at the start makes a comment. Throws
// UsageError that starts with "FILE:LINE: ".
PlanList plans_from_file(const std::string& name);

// `problem` with what its token leaves out, exactly as its token then says it.
Problem as_bound(const Problem& problem);

}  // namespace fourtune::tools
