// Which parameters the nonuniform kernels can have. Each function returns the first rule that is broken, as a sentence
// that says what would be right; empty: none is, and the kernels can be written. Nothing is emitted to find out.
#pragma once

#include <cstdint>
#include <string>

#include "generator/plan/nufft/choices.h"
#include "generator/plan/nufft/shape.h"

namespace fourtune::generator::nufft {

// What holds for any kernel, also for those of the sort.
std::string broken_rule(const Shape& shape, const Parameters& parameters);
// What holds for the sort of m points.
std::string broken_sort_rule(const Shape& shape, const Parameters& parameters, std::int64_t m);
// What holds for a spreader or an interpolator, in groups of parameters.group transforms, besides what holds for all.
std::string broken_rule(const Shape& shape, const Parameters& parameters, Spread family);
std::string broken_rule(const Shape& shape, const Parameters& parameters, Interpolate family);

}  // namespace fourtune::generator::nufft
