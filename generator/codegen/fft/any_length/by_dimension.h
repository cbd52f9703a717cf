// The passes of transforms of which at least one length is convolved or is made of half lines: dimensions are
// transformed one after the other, in the order in which a real array meets its half spectrum.
#pragma once

#include <cstdint>

#include "generator/codegen/fft/emit/emit.h"
#include "generator/codegen/fft/lower/split_stride.h"

namespace fourtune::generator::fft {

// All dimensions. Throws Error{unsupported} where emit_any_size does.
PlannedProgram passes_by_dimension(const EmitOptions& options);
// One dimension alone, from the first array to the second one; complex values.
PlannedProgram passes_along(const EmitOptions& options, int dimension);

// A transform only along dimensions of length 1: it copies the values.
PlannedPass whole_copy(const EmitOptions& options);

// The layout of an array without gaps.
ArrayLayout dense(const Lengths& n);
AxisNumbers with_batch(const Lengths& n, std::int64_t batch);

}  // namespace fourtune::generator::fft
