// Checks of what applications pass, the same for all interfaces.
#pragma once

#include "fourtune/problem.h"
#include "fourtune/transform.h"

namespace fourtune::runtime {

// No plan can meet a tolerance below the unit roundoff. Throws Error{tolerance_unreachable}, or raises it where
// `clamp`.
Problem reachable(Problem problem, bool clamp);
// Every backend reads whole numbers of the problem's precision, so arrays must be aligned. A null pointer passes.
// Throws Error{invalid_argument} that calls the array `name`.
void check_alignment(const void* array, Precision precision, const char* name);
// Throws Error{invalid_argument} for null, surplus or misaligned arrays and for negative counts.
void check_points(const Problem& problem, const Points& points);
// The arrays of an execute. Throws Error{points_not_set}, or Error{invalid_argument} for null, misaligned or aliased
// ones.
void check_arrays(const Problem& problem, bool points_set, const void* point_values, const void* mode_values);
// Whatever runs out of memory, the caller sees the same status. Call this in an exception handler.
[[noreturn]] void rethrow_named();

}  // namespace fourtune::runtime
