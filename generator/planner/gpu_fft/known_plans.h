// Plans for a transform that nobody tuned: a winner measured on an H200 (docs/design/gpu-fft.md) if there is one for
// the size and the device can run it, else plain_plan.
#pragma once

#include <optional>

#include "fourtune/device_traits.h"
#include "generator/codegen/fft/emit/emit.h"

namespace fourtune::generator::fft {

// The winner measured for this size, type and use of the arrays, bound and in natural order, as known_plan returns it.
// Returns nothing if there is none, or if the device or the arrays do not allow it.
std::optional<FftPlan> measured_plan(const EmitOptions& options, const DeviceTraits& device);

// The best plan known: measured_plan, else plain_plan, bound and in natural order. It fits `options` (type, hooks,
// strides, place) and the device's rules (check_device); a winner gets plain loads where the device or the array does
// not support bulk copies. Lengths must pass has_codelets (any_size.h), else Error{invalid_plan}; emit_any_size handles
// the other lengths.
FftPlan known_plan(const EmitOptions& options, const DeviceTraits& device);

}  // namespace fourtune::generator::fft
