// The families of plans that this build supports: all of them, or all but fftw when built without FFTW
// (FOURTUNE_FFTW=OFF).
#pragma once

#include "generator/plan/plan.h"
#include "generator/planner/planner.h"

namespace fourtune::runtime {

bool has_fftw() noexcept;
// Throws Error{unsupported} when the plan, of an fft or a nufft, names a family that this build does not support.
void require_families(const generator::Plan& plan);
// Keeps the candidates that this build can run and tell apart: without FFTW there is no rigor to choose either.
generator::Space runnable(generator::Space space);

}  // namespace fourtune::runtime
