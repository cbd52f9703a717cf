// The cells behind a grid that stand for its first ones (GridShape::halo).
#pragma once

#include <complex>

#include "runtime/backends/cpu/gridder/gridder.h"

namespace fourtune::runtime::cpu {

// Adds the halo's cells to those that they stand for; `reach` of them along x, where the others are zero.
template <class T>
void fold_halo(const GridShape& shape, std::int64_t reach, int threads, std::complex<T>* grid);
// Copies the cells that the halo's stand for into it.
template <class T>
void fill_halo(const GridShape& shape, int threads, std::complex<T>* grid);

}  // namespace fourtune::runtime::cpu
