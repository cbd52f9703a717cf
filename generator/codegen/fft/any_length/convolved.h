// Which lines are convolved (bluestein.h) and which are transformed by codelets.
#pragma once

#include "generator/codegen/fft/emit/emit.h"

namespace fourtune::generator::fft {

// Whether emit_any_size convolves the lines along a dimension: those without codelets, and those of which a DFT does
// not fit a thread's registers. Whether it does so along any dimension.
bool is_convolved(const EmitOptions& options, int dimension);
bool convolves(const EmitOptions& options);

}  // namespace fourtune::generator::fft
