// The plain plan of a transform that nobody tuned, made to fit the shared memory of a device.
#pragma once

#include "fourtune/device_traits.h"
#include "generator/codegen/fft/emit/emit.h"

namespace fourtune::generator::fft {

// plain_plan, bound and in natural order. A kernel that needs more shared memory than a block of the device has first
// exchanges real and imaginary parts one after the other, then carries less; Error{unsupported} if that does not do.
// Lengths must pass has_codelets (any_size.h), else Error{invalid_plan}; emit_any_size handles the other lengths.
FftPlan fitted_plan(const EmitOptions& options, const DeviceTraits& device);

}  // namespace fourtune::generator::fft
