// Which plans slabs with points on GPUs take, and what of a plan concerns the whole grid.
#pragma once

#include <string>

#include "fourtune/device_traits.h"
#include "fourtune/problem.h"
#include "fourtune/transform.h"
#include "generator/codegen/nufft/fft.h"
#include "generator/codegen/nufft/kernels.h"
#include "generator/plan/nufft/shape.h"
#include "generator/plan/plan.h"

namespace fourtune::runtime {

// The whole fine grid and window of a plan, for kernels.
generator::nufft::Shape whole_grid(const Problem& problem, const generator::Plan& plan, const DeviceTraits& device);
// Kernels that locate points in it. trust: they are not checked.
generator::nufft::StageKernels locator_of(const Problem& problem, const generator::Plan& plan, bool trust,
                                          const DeviceTraits& device);
// Its transform to or from the modes.
generator::gpu_nufft::GridFft grid_fft_of(const Problem& problem, const generator::Plan& plan, ModeOrder order);
// Why slabs cannot have this plan; empty: they can.
std::string gpu_slabs_fault(const generator::Plan& plan, const Problem& problem);
// The plan with families that slabs take. deterministic: what gives the same bits wherever a slab begins.
generator::Plan fit_for_gpu_slabs(const generator::Plan& plan, const Problem& problem, const DeviceTraits& device,
                                  bool deterministic);

}  // namespace fourtune::runtime
