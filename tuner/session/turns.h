// Shares a session's budget between problems. Every problem has a first turn of its share. What is left of it when a
// search has ended its rise goes to further turns, of the problems that are expected to gain most by a second more.
#pragma once

#include <vector>

#include "tuner/session/session_context.h"

namespace fourtune::tuner {

// costs: what each problem is expected to need, in seconds. Appends a report for each problem that had its turn; after
// an interruption, the later ones have none.
void take_turns(SessionContext& context, const std::vector<Problem>& problems, const std::vector<double>& costs);

}  // namespace fourtune::tuner
