// What candidates.h promises, for the plans of GPU backends. Uniform transforms: gpu_fft_candidates.cpp; nonuniform
// ones: gpu_nufft_candidates.cpp.
#pragma once

#include <vector>

#include "generator/candidates.h"
#include "generator/fft/enumerate.h"

namespace fourtune::generator {

struct GpuFftSpace {
  Space space;
  std::vector<fft::RuleCount> counts;  // what every rule left, in their order
};
// cufft (not on the emulated backend), plain, the best known plan and its variations, and plans enumerated from the
// traits, all in natural order. Every plan parses back and has a program; coordinates are choices of the kernels.
// A list of `limits.plans` at most, and the variations.
GpuFftSpace gpu_fft_candidates(const Problem& problem, const DeviceTraits& traits,
                               const fft::EnumerationLimits& limits = {});
// The winner known for this size, cuFFT where it was faster, else kernels for any size; cuFFT where there are none.
Plan gpu_fft_default_plan(const Problem& problem, const DeviceTraits& traits, std::string* why = nullptr);
Plan gpu_fft_adapt(const Plan& plan, const Problem& problem, const DeviceTraits& traits);
Cost gpu_fft_estimate(const Plan& plan, const Problem& problem, const DeviceTraits& traits);
double gpu_fft_floor_seconds(const Plan& plan, const Problem& problem, const DeviceTraits& traits);

Space gpu_nufft_candidates(const Problem& problem, const DeviceTraits& traits);
Plan gpu_nufft_default_plan(const Problem& problem, const DeviceTraits& traits);
Plan gpu_nufft_adapt(const Plan& plan, const Problem& problem, const DeviceTraits& traits);
Cost gpu_nufft_estimate(const Plan& plan, const Problem& problem, const DeviceTraits& traits);
double gpu_nufft_floor_seconds(const Plan& plan, const Problem& problem, const DeviceTraits& traits);

}  // namespace fourtune::generator
