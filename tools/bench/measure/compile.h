// Kernels of a whole benchmark, compiled before the first measurement.
#pragma once

#include <span>
#include <vector>

#include "fourtune/problem.h"
#include "tools/bench/measure/contender.h"

namespace fourtune::tools {

struct ToMeasure {
  Problem problem;
  std::vector<Entrant> entrants;
};

// On `threads` threads; prints how long it took. What does not compile is left to the measurement, which says why.
void compile_first(std::span<const ToMeasure> list, int threads);

}  // namespace fourtune::tools
