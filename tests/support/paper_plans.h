// Prepares the paper's plans for kernels.
#pragma once

#include "generator/planner/gpu_fft/enumerate.h"
#include "generator/planner/gpu_fft/published_plans.h"

namespace fourtune::test {

// Adds the cost model's parameters to a plan without parameters. Reversed order uses only the output array, as in the
// paper; natural order alternates between the output and a workspace.
generator::fft::FftPlan made_ready(generator::fft::FftPlan plan, generator::fft::DigitOrder order,
                                   const DeviceTraits& device);

// The plan without one dimension; the remaining dimensions are named X and Y. Not for bound plans.
generator::fft::FftPlan without(const generator::fft::FftPlan& plan, generator::fft::Dim gone);

}  // namespace fourtune::test
