// The least and the greatest coordinates of a type 3, which determine its geometry (generator/plan/type3_geometry.h).
#pragma once

#include <cstdint>

#include "generator/plan/type3_geometry.h"

namespace fourtune::runtime::cpu {

using generator::gaussian_rule;
using generator::GaussianRule;
using generator::Interval;
using generator::type3_dimension;
using generator::Type3Dimension;

// The range in which set_bounds says that coordinates lie.
struct Promise {
  double low = 0, high = 0;
};

// Returns the type3_interval of `count` coordinates. Throws Error{invalid_point}, naming the first NaN or infinite
// coordinate, and Error{contradiction} for coordinates outside the promised range (null: no promise); `what` names the
// coordinates. Throws neither when points are trusted.
template <class T>
Interval interval(const T* coordinates, std::int64_t count, bool trust, const char* what, int threads,
                  const Promise* promise = nullptr);

}  // namespace fourtune::runtime::cpu
