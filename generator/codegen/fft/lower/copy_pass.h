// A kernel that moves values without a transform: a transform of one value, and the way out where a real transform in
// place cannot read and write the same rows.
#pragma once

#include <array>

#include "generator/codegen/fft/lower/lower.h"

namespace fourtune::generator::fft {

// One side: how its elements are stored and the strides of x, y, z and the batch.
struct CopySide {
  Values values = Values::complex;  // not hermitian
  std::array<std::int64_t, 4> stride{};
};
// `n` values (x, y, z, batch) times `scale`, from the first to the second array.
PlannedPass copy_pass(const EmitOptions& options, const std::array<std::int64_t, 4>& n, const CopySide& from,
                      const CopySide& to, double scale);

// Whether every tile of whole lines along x of a real transform in place reads and writes the same bytes: rows of both
// arrays start at the same places and do not share any.
bool same_rows(const EmitOptions& options);

}  // namespace fourtune::generator::fft
