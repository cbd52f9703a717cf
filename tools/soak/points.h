// The points of a case: those of the problem's class, moved as the case says.
#pragma once

#include "tools/soak/case.h"
#include "tuner/reference/synthetic.h"

namespace fourtune::tools {

// Sources and (for type 3) targets of transform number `transform` of the batch. All transforms have the same points
// unless the case is distinct. T is the problem's precision.
template <class T>
struct CasePoints {
  tuner::PointSet<T> sources, targets;
};
template <class T>
CasePoints<T> make_case_points(const SoakCase& one, std::int64_t transform);

}  // namespace fourtune::tools
