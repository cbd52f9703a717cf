// Whether a plan can meet its problem's tolerance, by the window model: what a plan that comes from a file must show
// before it runs. A file may be damaged, or written by anybody; a plan that parses can still be wrong.
#pragma once

#include <string>

#include "fourtune/problem.h"
#include "generator/plan/plan.h"

namespace fourtune::generator {

// Why no result of the plan can be right for the problem; empty: it can be. Looked at are the windows on the fine grids
// as the plan has them (not as its sigma says), look-up tables, and rounding. The bounds are those that candidates
// keep: kStillRight times the tolerance. A uniform transform has no window and no fault here. Of a plan that parse_plan
// gave for this problem; forced plans are not asked. 50 to 200 microseconds.
std::string accuracy_fault(const Plan& plan, const Problem& problem);

}  // namespace fourtune::generator
