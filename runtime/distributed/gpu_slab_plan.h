// Which plans of a rank with a GPU slabs with points take.
#pragma once

#include <string>

#include "fourtune/device_traits.h"
#include "fourtune/problem.h"
#include "generator/plan/nufft/shape.h"
#include "generator/plan/plan.h"

namespace fourtune::runtime::distributed {

// The whole fine grid and window of a plan, for kernels.
generator::nufft::Shape whole_grid(const Problem& problem, const generator::Plan& plan, const DeviceTraits& device);
// Why slabs cannot have this plan; empty: they can.
std::string gpu_slabs_fault(const generator::Plan& plan, const Problem& problem);
// The plan with families that slabs take. deterministic: what gives the same bits wherever a slab begins.
generator::Plan fit_for_gpu_slabs(const generator::Plan& plan, const Problem& problem, const DeviceTraits& device,
                                  bool deterministic);

}  // namespace fourtune::runtime::distributed
