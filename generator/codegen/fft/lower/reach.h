// Checks that the kernels of a program stay inside their arrays, using only the numbers from which they are generated:
// nothing is run. Every program is checked before it leaves the generator, so a plan that would write outside is
// refused.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "generator/codegen/fft/lower/lower.h"
#include "generator/codegen/fft/lower/split_stride.h"

namespace fourtune::generator::fft {

// Lengths and element strides of the transform's first or second array. Elements are real
// numbers if the array is real.
Lengths array_sizes(const EmitOptions& options, bool input);
AxisNumbers array_strides(const EmitOptions& options, bool input);
// Bytes from the array's first element to the end of its last one; in place, those of the longer array.
std::int64_t array_bytes(const EmitOptions& options, bool input);

// Number of elements from the first to the last one that a port may touch, as its bounds and windows restrict whole
// tiles.
std::int64_t reach(const PassSpec& pass, const Port& port);

// Bytes of every workspace: each is as large as what is written there.
std::vector<std::int64_t> workspace_bytes(const PlannedProgram& planned, const EmitOptions& options);

// The refusal ("rule target") if a kernel would read or write beyond the end of an array or a workspace, or look up
// beyond the end of a table of factors; empty: none does.
std::string beyond_reach(const PlannedProgram& planned, const EmitOptions& options);

}  // namespace fourtune::generator::fft
