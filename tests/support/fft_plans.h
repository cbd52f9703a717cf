// Random right plans, for property tests.
#pragma once

#include <random>

#include "generator/plan/fft/notation.h"

namespace fourtune::test {

struct RandomPlanLimits {
  int dims = 3;                     // most
  std::int64_t elements = 1 << 16;  // most of one transform
  bool bound = true;                // with threads and tiles
};

// A plan that check() passes: mixed radices, sub-FFTs dealt to kernels at random, random parameters.
generator::fft::FftPlan random_plan(std::mt19937& random, const RandomPlanLimits& limits = {});

}  // namespace fourtune::test
