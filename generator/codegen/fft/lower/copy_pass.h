// A kernel that moves values without transforming them: for a transform of one value, and for real transforms in place
// that cannot read and write the same rows.
#pragma once

#include <array>

#include "generator/codegen/fft/lower/lower.h"

namespace fourtune::generator::fft {

// One side: how its elements are stored, and the strides of x, y, z and the batch.
struct CopySide {
  Values values = Values::complex;  // not hermitian
  std::array<std::int64_t, 4> stride{};
};
// Copies `n` values (x, y, z, batch), multiplied by `scale`, from the first to the second array.
PlannedPass copy_pass(const EmitOptions& options, const std::array<std::int64_t, 4>& n, const CopySide& from,
                      const CopySide& to, double scale);

// Whether each tile of whole lines along x of a real transform in place reads and writes the same bytes: the rows of
// both arrays start at the same places and do not overlap.
bool same_rows(const EmitOptions& options);

}  // namespace fourtune::generator::fft
