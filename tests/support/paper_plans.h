// The paper's plans made ready for kernels.
#pragma once

#include "generator/planner/gpu_fft/enumerate.h"
#include "generator/planner/gpu_fft/paper_plans.h"

namespace fourtune::test {

// A plan without parameters with those that the cost model gives it. Reversed order in the output array alone, as the
// paper has it; natural order goes between the output and a workspace.
generator::fft::FftPlan made_ready(generator::fft::FftPlan plan, generator::fft::Order order,
                                   const DeviceTraits& device);

// The plan of a plane: without one dimension, what is left named X and Y. Not for bound plans.
generator::fft::FftPlan without(const generator::fft::FftPlan& plan, generator::fft::Dim gone);

}  // namespace fourtune::test
