// The kernel of transforms that only spread or interpolate.
#pragma once

#include <string>

#include "fourtune/problem.h"

namespace fourtune::dropin {

// The plan text with another window: the narrowest one that reaches problem.tol on grids with `upsampling` cells for
// each mode (above 4: as for 4). It depends on these, the precision and the dimension alone, not on the sizes. Throws
// Error{tolerance_unreachable} where no window does.
std::string with_kernel(const std::string& plan, const Problem& problem, double upsampling);

}  // namespace fourtune::dropin
