// Small questions that the list of candidates and the untuned choice both ask.
#pragma once

#include <algorithm>

#include "generator/codegen/fft/any_length/any_size.h"
#include "generator/plan/plan.h"
#include "generator/planner/gpu_fft/enumerate.h"

namespace fourtune::generator {

inline bool has_codelets(const Problem& problem) {
  return std::all_of(problem.n.begin(), problem.n.end(), [](std::int64_t n) { return fft::has_codelets(n); });
}

inline Plan plan_of(const DeviceTraits& traits, GpuFftFamily family) {
  Plan plan = plan_for(traits.backend);
  plan.gpu().fft.family = family;
  return plan;
}

// What an enumeration of plans is asked for; options: notation_options(problem). Reversed orders are listed as
// order=primes; fft::facing() turns a plan to the side of the problem.
fft::FftRequest request_of(const Problem& problem, const fft::EmitOptions& options);

// Adapts the plan to these arrays. Values between kernels go through the workspace where the output cannot hold them; x
// comes first or last where a real transform needs it.
fft::FftPlan for_arrays(fft::FftPlan plan, const fft::EmitOptions& options);

// A register limit per thread that lets one more block of a kernel be resident than the compiler's own choice would,
// and leaves `spare` registers beside the thread's values; 0: there is none.
int tighter_registers(const fft::FftPlan& plan, std::size_t kernel, int spare, const DeviceTraits& traits);

// Why a plan has no program; the adjoint of a complex transform uses the same plan, from the second array to the first.
std::string why_not_both_ways(const fft::FftPlan& plan, fft::EmitOptions options);

}  // namespace fourtune::generator
