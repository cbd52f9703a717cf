// Turns passes into a program: CUDA text and launches.
#pragma once

#include <string>

#include "generator/codegen/fft/lower/lower.h"
#include "generator/codegen/kernel_source.h"
#include "generator/plan/fft/notation.h"

namespace fourtune::generator::fft {

// Throws Error{invalid_plan} naming the rule if kernels cannot do what a parameter asks for: shuffles of values that
// change their warp, or of tiles that are not powers of two ("exchange"); swizzles of such tiles ("banks"); bulk copies
// of partial tiles, or of runs whose size or start is not a multiple of 16 bytes ("load").
GpuProgram emit_program(const FftPlan& plan, const EmitOptions& options);
GpuProgram emit_program(const PlannedProgram& planned, const EmitOptions& options);
// The rule of these, or of launches and indices, that the passes break; empty: emit_program writes them.
std::string why_not_written(const PlannedProgram& planned, const EmitOptions& options);

// Returns a self-contained .cu file (emit_standalone.cpp): all kernels of the program, and a main function that fills
// the input, runs the program, compares sampled outputs with direct sums in double precision, and prints the error, the
// median time and rates. Only for dense complex transforms; others throw Error{unsupported}.
std::string emit_standalone(const GpuProgram& program, const FftPlan& plan, const EmitOptions& options);
// The same for a program in natural order without a plan in the notation; `title` describes its plan, in printable
// ASCII.
std::string emit_standalone(const GpuProgram& program, const std::string& title, const EmitOptions& options);

}  // namespace fourtune::generator::fft
