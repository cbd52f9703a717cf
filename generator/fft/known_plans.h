// Plans for a transform that nobody tuned: winners measured on an H200 (docs/gpu-fft.md) where the size is one of
// theirs and the device can run them, else plain_plan.
#pragma once

#include "fourtune/device_traits.h"
#include "generator/fft/emit.h"

namespace fourtune::generator::fft {

// The best plan known, bound and in natural order. It fits `options` (type, hooks, strides, place) and the device's
// rules (check_device): a winner is taken with plain loads where the device or the array has no bulk copies. Lengths
// must pass has_codelets (any_size.h), else Error{invalid_plan}: emit_any_size does those.
FftPlan known_plan(const EmitOptions& options, const DeviceTraits& device);

}  // namespace fourtune::generator::fft
