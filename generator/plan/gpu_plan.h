// The stages of a plan that only GPU backends (cuda, emulated) have; plan.h has the rest of the plan and its grammar.
//
//   cuda;fft=cufft
//   cuda;fft=interleaved{X(16,16,16,256,tw),X(16,16,1,16,no-tw)}[threads=256,tile=16]...:order=natural
//   cuda;window=pswf(sigma=2,width=6,fine=512x512x512);sort=bins(bin=3x3x1,order=slide);spread=window(warps=2);
//   interp=points(lanes=4);fft=plain                                               (on one line, without the blank)
#pragma once

#include "base/gpu_backends.h"
#include "generator/plan/fft/notation.h"
#include "generator/plan/nufft/choices.h"

namespace fourtune::generator {

enum class GpuFftFamily {
  cufft,        // the device's FFT library; no kernel of ours runs around a uniform transform
  plain,        // generated from a known-good plan, or one kernel per dimension; any size (fft/any_size.h)
  interleaved,  // generated from a plan in the notation of fft/notation.h
};
struct GpuFftChoice {
  GpuFftFamily family = GpuFftFamily::plain;
  fft::FftPlan plan;  // interleaved: plan of the transform itself; for a nufft, of the transform of its fine grid
  friend bool operator==(const GpuFftChoice&, const GpuFftChoice&) = default;
};

// Sort, spread and interpolate. In types 1 and 2, one sort serves both kernels (a transform and its adjoint), so order,
// bin, cap and placement are equal in spread_with and interp_with; in type 3, spread_with is for the sources and
// interp_with for the targets.
struct GpuPointsChoice {
  nufft::Spread spread = nufft::Spread::window;
  nufft::Parameters spread_with;
  nufft::Interpolate interp = nufft::Interpolate::window;
  nufft::Parameters interp_with;
  friend bool operator==(const GpuPointsChoice&, const GpuPointsChoice&) = default;
};

// The stages of a plan for a GPU.
struct GpuStages {
  GpuFftChoice fft;
  GpuPointsChoice points;  // nufft only
  friend bool operator==(const GpuStages&, const GpuStages&) = default;
};

}  // namespace fourtune::generator
