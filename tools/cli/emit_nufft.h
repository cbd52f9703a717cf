// The programs of a nonuniform transform on a GPU for known numbers of points, as `fourtune emit` writes them.
#pragma once

#include "fourtune/device_traits.h"
#include "fourtune/problem.h"
#include "generator/codegen/nufft/standalone.h"
#include "generator/plan/plan.h"

namespace fourtune::tools {

// What the executor of the GPU backends does for m points (and k targets), with room for points that all lie in a few
// bins. A type 3 is made for the box of points that `fourtune run` draws: half-widths whose products are the problem's
// extent. Throws UsageError when the problem lacks m or k or the plan is the library's, and Error{invalid_plan |
// unsupported} when there are no kernels.
generator::nufft::Standalone standalone_nufft(const Problem& problem, const generator::Plan& plan,
                                              const DeviceTraits& device);
// The plan that runs untuned, with FFT kernels where that takes the device's library.
generator::Plan untuned_nufft_plan(const Problem& problem, const DeviceTraits& device);

}  // namespace fourtune::tools
