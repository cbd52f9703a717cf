// Plans of uniform transforms on GPUs.
#pragma once

#include <string>
#include <vector>

#include "generator/planner/gpu_fft/enumerate.h"
#include "generator/planner/planner.h"

namespace fourtune::generator {

extern const Planner gpu_fft_planner;

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

}  // namespace fourtune::generator
