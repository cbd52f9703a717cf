// Plans for uniform transforms on GPUs: candidates.cpp lists them, cost.cpp has their floors and estimates,
// default_plan.cpp chooses the one that runs untuned.
#pragma once

#include <string>
#include <vector>

#include "generator/planner/gpu_fft/enumerate.h"
#include "generator/planner/gpu_fft/fft_costs.h"
#include "generator/planner/planner.h"

namespace fourtune::generator {

extern const Planner gpu_fft_planner;

struct GpuFftSpace {
  Space space;
  std::vector<fft::RuleCount> counts;  // what every rule left, in the order of the rules
};
// Whether the backend has an FFT library that does the problem: cuFFT does up to three dimensions in natural order, and
// real transforms with their usual sign only.
bool gpu_fft_library_does(const Problem& problem, const DeviceTraits& traits);
// Returns cufft (if the library does the problem), plain, the plain one in the notation with its variations, and plans
// enumerated from the traits, all in the problem's order. Every plan parses back and has a program; the coordinates are
// choices of the kernels. The list has at most `limits.plans` plans plus the variations.
GpuFftSpace gpu_fft_candidates(const Problem& problem, const DeviceTraits& traits,
                               const fft::EnumerationLimits& limits = {});
// Kernels for any size; past the cache what the estimates expect to be faster, a listed plan or cuFFT; cuFFT if there
// are no kernels. `why` gets the reason.
Plan gpu_fft_default_plan(const Problem& problem, const DeviceTraits& traits, std::string* why = nullptr);
Plan gpu_fft_adapt(const Plan& plan, const Problem& problem, const DeviceTraits& traits);
Cost gpu_fft_estimate(const Plan& plan, const Problem& problem, const DeviceTraits& traits);
// The same with given coefficients, for fitting them.
Cost gpu_fft_estimate(const Plan& plan, const Problem& problem, const DeviceTraits& traits, const fft::FftCosts& costs);
double gpu_fft_floor_seconds(const Plan& plan, const Problem& problem, const DeviceTraits& traits);

}  // namespace fourtune::generator
