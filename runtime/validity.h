// For which problems a verdict holds, beyond the very token it was measured for.
#pragma once

#include <string>
#include <string_view>

#include "fourtune/problem.h"

namespace fourtune::runtime {

// JSON of the ranges that a measurement of this problem speaks for: point counts and extent within a factor of two,
// batch within a factor of two, the same class of points. (Layouts and everything else in the token must be equal.)
std::string validity_of(const Problem& problem);

// True when `actual` has the same token as `measured` apart from m, k, batch, extent and points, and those lie in the
// validity's ranges. Otherwise false, and `why` says what lies outside. Text that is no validity is outside.
bool covers(std::string_view validity, const Problem& measured, const Problem& actual, std::string& why);

}  // namespace fourtune::runtime
