// Random valid plans, for property tests.
#pragma once

#include <random>

#include "generator/plan/fft/notation.h"

namespace fourtune::test {

struct RandomPlanLimits {
  int dims = 4;                     // the most dimensions
  std::int64_t elements = 1 << 16;  // the most elements of one transform
  bool bound = true;                // with threads and tiles
};

// A plan that passes check(): mixed radices, sub-FFTs randomly distributed over kernels, random parameters.
generator::fft::FftPlan random_plan(std::mt19937& random, const RandomPlanLimits& limits = {});

}  // namespace fourtune::test
