// The kernels for the plan of a uniform transform: what the problem requires of them, and the program that runs them.
#pragma once

#include <optional>

#include "fourtune/device_traits.h"
#include "fourtune/problem.h"
#include "generator/codegen/fft/emit/emit.h"
#include "generator/codegen/kernel_source.h"
#include "generator/plan/plan.h"

namespace fourtune::generator {

// Sizes, sign, batch, place and layouts of the problem in the form that the emitter needs. Unnormalised, as on every
// backend.
fft::EmitOptions emit_options(const Problem& problem);
// The same for a plan in the notation, whose dimensions are those longer than 1; x is the first of them. Throws
// Error{invalid_plan} if that would change which dimension a real transform halves.
fft::EmitOptions notation_options(const Problem& problem);

// Why the kernels of this plan would be wrong for these options even though every rule of the notation holds: digits
// that cannot be placed (fft::lower), a pass that cannot be written (fft::broken_rule), or intermediate values in an
// array that cannot hold them. Empty: the kernels are right.
std::string why_not_emitted(const fft::FftPlan& plan, const fft::EmitOptions& options);

// The program of a GPU plan for a uniform problem, in -> out; nullopt: the device's FFT library (cufft) runs it. Throws
// Error{invalid_plan} if the plan does not fit the problem, and Error{unsupported} if no kernel can do it.
std::optional<GpuProgram> gpu_fft_program(const Problem& problem, const Plan& plan, const DeviceTraits& traits);
// The program for complex transforms along one dimension of the problem's arrays alone, out of place, by generated
// kernels. Throws Error{unsupported} if none can do it.
GpuProgram gpu_fft_lines_program(const Problem& problem, int dimension, const DeviceTraits& traits);
// The same with steps that follow from the length of a line across x alone (EmitOptions::by_length): its bits do not
// depend on how many lines there are. Its length has codelets.
GpuProgram gpu_fft_steady_lines_program(const Problem& problem, int dimension, const DeviceTraits& traits);

// Which of a program's arrays are those of several ranks.
struct RankPorts {
  std::optional<fft::RankArrays> input, output;
};
// The programs of plain kernels for such arrays, of all dimensions (weighted: as gpu_fft_adjoint_program) and of one.
// Every length has codelets and is above 1. Throw as those do.
GpuProgram gpu_fft_ranks_program(const Problem& problem, bool weighted, const RankPorts& ranks,
                                 const DeviceTraits& traits);
GpuProgram gpu_fft_ranks_lines_program(const Problem& problem, int dimension, const RankPorts& ranks,
                                       const DeviceTraits& traits);
// Throws as gpu_fft_program does. It makes the passes of the plan, which have its rules, and neither tables nor text.
void check_gpu_fft(const Problem& problem, const Plan& plan, const DeviceTraits& traits);
// The program for `adjoint` (fft::adjoint_options): the problem that is the adjoint of a real transform, except for the
// weights of its half spectrum, which the program includes. Always uses generated kernels, whatever the plan. Throws
// Error{unsupported} likewise.
GpuProgram gpu_fft_adjoint_program(const Problem& adjoint, const DeviceTraits& traits);

}  // namespace fourtune::generator
