// From passes to a program: CUDA text and launches.
#pragma once

#include <string>

#include "generator/codegen/fft/lower/lower.h"
#include "generator/codegen/kernel_source.h"
#include "generator/plan/fft/notation.h"

namespace fourtune::generator::fft {

// Throws Error{invalid_plan} that names the rule where kernels cannot do what a parameter asks for: shuffles of values
// that change their warp or of tiles that are not powers of two ("exchange"), swizzles of the latter ("banks"), bulk
// copies of partial tiles, of runs that are no multiple of 16 bytes or start elsewhere ("load").
GpuProgram emit_program(const FftPlan& plan, const EmitOptions& options);
GpuProgram emit_program(const PlannedProgram& planned, const EmitOptions& options);

// One self-contained .cu file: all kernels of the program and a main that fills the input, runs the program, compares
// sampled outputs with direct sums in double and prints error, median time and rates. Dense complex transforms; others
// throw Error{unsupported}.
std::string emit_standalone(const GpuProgram& program, const FftPlan& plan, const EmitOptions& options);
// The same for a program in natural order that no notation describes; `title` is its plan, in printable ASCII.
std::string emit_standalone(const GpuProgram& program, const std::string& title, const EmitOptions& options);

}  // namespace fourtune::generator::fft
