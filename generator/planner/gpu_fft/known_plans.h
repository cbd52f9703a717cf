// Plans for a transform that nobody tuned: winners measured on an H200 (docs/gpu-fft.md) where the size is one of
// theirs and the device can run them, else plain_plan.
#pragma once

#include <optional>

#include "fourtune/device_traits.h"
#include "generator/codegen/fft/emit/emit.h"

namespace fourtune::generator::fft {

// The winner measured for this size, type and use of the arrays, bound and in natural order, as known_plan has it;
// nothing where there is none or the device or the arrays do not allow it.
std::optional<FftPlan> measured_plan(const EmitOptions& options, const DeviceTraits& device);

// The best plan known: measured_plan, else plain_plan, bound and in natural order. It fits `options` (type, hooks,
// strides, place) and the device's rules (check_device): a winner is taken with plain loads where the device or the
// array has no bulk copies. Lengths must pass has_codelets (any_size.h), else Error{invalid_plan}: emit_any_size does
// those.
FftPlan known_plan(const EmitOptions& options, const DeviceTraits& device);

}  // namespace fourtune::generator::fft
