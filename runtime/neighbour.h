// How far apart two problems are when one borrows the plan of the other.
#pragma once

#include <limits>
#include <string>

#include "fourtune/problem.h"

namespace fourtune::runtime {

// Beyond this distance the cost model is a better guess than a borrowed plan; 4 is, say, a factor of 4 in every size.
inline constexpr double kTooFar = 4;
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

// kInfinity when the plan cannot be borrowed at all. The terms are logarithms of ratios of sizes, counts and
// tolerances.
double distance_between(const Problem& a, const Problem& b);

// Where a problem stands among others, so that its neighbours are found without looking at everything: problems of
// different kin are infinitely far apart, and the distance is at least the difference in size.
struct Neighbourhood {
  std::string kin;  // "nufft 1 2d f32"
  double size = 0;  // mean of log2(n); of type 3, which has no n, 0.3 log2(m k)
};
Neighbourhood neighbourhood_of(const Problem& problem);

}  // namespace fourtune::runtime
