// The kernels of a uniform transform's plan: what the problem asks of them, and the program that does it.
#pragma once

#include <optional>

#include "fourtune/device_traits.h"
#include "fourtune/problem.h"
#include "generator/codegen/fft/emit/emit.h"
#include "generator/codegen/kernel_source.h"
#include "generator/plan/plan.h"

namespace fourtune::generator {

// Sizes, sign, batch, place and layouts of the problem, as the emitter takes them. Unnormalised, as on every backend.
fft::EmitOptions emit_options(const Problem& problem);
// The same for a plan in the notation, whose dimensions are those longer than 1: x is the first of them. Throws
// Error{invalid_plan} where that would change which dimension a real transform halves.
fft::EmitOptions notation_options(const Problem& problem);

// Why the kernels of this plan would be wrong for these options although every rule of the notation holds: bulk copies
// of what is not contiguous, intermediate values in an array that cannot hold them. Empty: they are right. Throws
// Error{invalid_plan} where plan_passes does.
std::string why_not_emitted(const fft::FftPlan& plan, const fft::EmitOptions& options);

// The program of a GPU plan for a uniform problem, in -> out; nullopt: the device's FFT library (cufft). Throws
// Error{invalid_plan} for a plan that does not fit the problem, Error{unsupported} for what no kernel does.
std::optional<GpuProgram> gpu_fft_program(const Problem& problem, const Plan& plan, const DeviceTraits& traits);
// The same for `adjoint`, the problem that the adjoint of a real transform is but for the weights of its half spectrum
// (fft::adjoint_options), with them; by kernels of ours whatever the plan. Throws Error{unsupported} likewise.
GpuProgram gpu_fft_adjoint_program(const Problem& adjoint, const DeviceTraits& traits);

}  // namespace fourtune::generator
