// The plans of the paper on cuFINUFFT (Shih, Wright, Anden, Blaschke, Barnett, 2021) as published. They are no
// candidates of the tuner: benchmarks show them beside ours, soak draws them, and a plan text can force them.
#pragma once

#include <optional>

#include "fourtune/device_traits.h"
#include "fourtune/problem.h"
#include "generator/plan/plan.h"

namespace fourtune::generator::gpu_nufft {

enum class Published { gm, gm_sort, sm };
inline constexpr Published kPublished[]{Published::gm, Published::gm_sort, Published::sm};

// The method's plan for a problem of two or three dimensions: the exponential of semicircle with the width and shape of
// equation 6, oversampling 2, the bins of Remark 1, at most 1024 points per subproblem, the device's FFT library where
// there is one. A type 3 is composed of two such windows, each for half its tolerance. Type 2 interpolates by GM or
// GM-sort; its adjoint then spreads by the method. Nothing: the paper has no such method, because the problem is
// uniform or has one dimension, or SM's padded bin does not fit.
std::optional<Plan> published_plan(const Problem& problem, const DeviceTraits& traits, Published method);

}  // namespace fourtune::generator::gpu_nufft
