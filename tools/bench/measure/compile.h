// Compiles the kernels of a whole benchmark before the first measurement.
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

// Uses `threads` threads and prints how long it took. When something does not compile, the measurement reports why.
void compile_first(std::span<const ToMeasure> list, int threads);

}  // namespace fourtune::tools
