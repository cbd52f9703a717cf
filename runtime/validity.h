// The problems for which a verdict holds, besides the exact token for which it was measured.
#pragma once

#include <string>
#include <string_view>

#include "fourtune/problem.h"

namespace fourtune::runtime {

// JSON of the ranges that a measurement of this problem covers: point counts, extent and batch within a factor of two,
// and the same class of points. (Layouts and everything else in the token must be equal.)
std::string validity_of(const Problem& problem);

// True when `actual` has the same token as `measured` apart from m, k, batch, extent and points, and these lie inside
// the ranges of the validity. Otherwise false, and `why` says what lies outside. A text that is not a validity gives
// false.
bool covers(std::string_view validity, const Problem& measured, const Problem& actual, std::string& why);

}  // namespace fourtune::runtime
