// One call of a simple function: plan, points, execution and destruction in one.
#pragma once

#include <array>
#include <cstdint>

namespace fourtune::dropin {

template <class Real>
struct SimpleCall {
  const char* name;  // of the function
  int type, dim, count;
  std::int64_t points;
  std::array<const Real*, 3> x;
  const void* point_values;
  int sign;
  Real tol;
  std::array<std::int64_t, 3> modes;
  std::int64_t targets;
  std::array<const Real*, 3> s;
  const void* mode_values;
  const void* options;
};

}  // namespace fourtune::dropin
