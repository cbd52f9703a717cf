// A kernel that moves values without transforming them: for a transform of one value, and for real transforms in place
// that cannot read and write the same rows.
#pragma once

#include "generator/codegen/fft/lower/lower.h"
#include "generator/codegen/fft/lower/split_stride.h"

namespace fourtune::generator::fft {

// One side: how its elements are stored, and the strides of its axes.
struct CopySide {
  Values values = Values::complex;  // not hermitian
  AxisNumbers stride{};
  bool by_primes = false;  // positions along x, y, z and w are digit-reversed by prime factors; on one side at most
};
// Copies `n` values, multiplied by `scale`, from the first to the second array.
PlannedPass copy_pass(const EmitOptions& options, const AxisNumbers& n, const CopySide& from, const CopySide& to,
                      double scale);

// Whether each tile of whole lines along x of a real transform in place reads and writes the same bytes: the rows of
// both arrays start at the same places and do not overlap.
bool same_rows(const EmitOptions& options);

}  // namespace fourtune::generator::fft
