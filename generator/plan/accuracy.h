// Checks by the window model whether a plan can meet its problem's tolerance. A plan that comes from a file must pass
// this check before it runs: the file may be damaged, or written by anybody, and a plan that parses can still be wrong.
#pragma once

#include <string>

#include "fourtune/problem.h"
#include "generator/plan/plan.h"

namespace fourtune::generator {

// Returns why the plan cannot give right results for the problem; empty: it can. The check covers the windows on the
// fine grids that the plan contains (not those that its sigma implies), look-up tables, rounding and long sums. The
// bounds are those for candidates: kStillRight times the tolerance. A uniform transform has no window, so it always
// passes. The plan must be one that parse_plan returned for this problem; forced plans are not checked. Takes 50 to 200
// microseconds.
std::string accuracy_fault(const Plan& plan, const Problem& problem);

}  // namespace fourtune::generator
