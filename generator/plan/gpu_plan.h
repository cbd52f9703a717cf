// The stages of a plan for a GPU backend (cuda, emulated); plan.h has the rest and the text.
//
//   cuda;fft=cufft
//   cuda;fft=interleaved{X(16,16,16,256,tw),X(16,16,1,16,no-tw)}[threads=256,tile=16]...:order=natural
//   cuda;window=pswf(sigma=2,width=6,fine=512x512x512);sort=bins(bin=3x3x1,order=slide);spread=window(warps=2);
//   interp=points(lanes=4);fft=plain                                               (on one line, without the blank)
#pragma once

#include <string_view>

#include "generator/plan/fft/notation.h"
#include "generator/plan/nufft/choices.h"

namespace fourtune::generator {

enum class GpuFftFamily {
  cufft,        // the device's FFT library, with no pass of ours around a uniform transform
  plain,        // generated, a known-good plan or one kernel a dimension; any size (fft/any_size.h)
  interleaved,  // generated from a plan in the notation of fft/notation.h
};
struct GpuFftChoice {
  GpuFftFamily family = GpuFftFamily::plain;
  fft::FftPlan plan;  // interleaved: of the transform itself; nufft: of the fine grid
  friend bool operator==(const GpuFftChoice&, const GpuFftChoice&) = default;
};

// Sort, spread and interpolate. One sort serves both kernels (a transform and its adjoint) of types 1 and 2, so order,
// bin, cap and placement agree there; in type 3 spread_with is of the sources and interp_with of the targets.
struct GpuPointsChoice {
  nufft::Spread spread = nufft::Spread::window;
  nufft::Parameters spread_with;
  nufft::Interpolate interp = nufft::Interpolate::window;
  nufft::Parameters interp_with;
  friend bool operator==(const GpuPointsChoice&, const GpuPointsChoice&) = default;
};

// Whether plans of this backend are made of the stages above.
inline bool is_gpu(std::string_view backend) { return backend == "cuda" || backend == "emulated"; }

}  // namespace fourtune::generator
