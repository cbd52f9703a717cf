// Tables of specialised kernels by width, filled per instruction set in locate.cpp, rows.cpp and *_f32.cpp, *_f64.cpp.
#pragma once

#include <type_traits>

#include "runtime/backends/cpu/gridder/kernels.h"

namespace fourtune::runtime::cpu {

// Each function replaces, in a set from portable_kernels(), what the best supported instruction set does better.
void refine_locate(GridderKernels<float>& kernels, const Tiling& tiling);
void refine_locate(GridderKernels<double>& kernels, const Tiling& tiling);
void refine_evaluate(GridderKernels<float>& kernels, const Tiling& tiling);
void refine_evaluate(GridderKernels<double>& kernels, const Tiling& tiling);
void refine_spread(GridderKernels<float>& kernels, const Tiling& tiling);
void refine_spread(GridderKernels<double>& kernels, const Tiling& tiling);
void refine_interpolate(GridderKernels<float>& kernels, const Tiling& tiling);
void refine_interpolate(GridderKernels<double>& kernels, const Tiling& tiling);
void refine_rows(GridderKernels<float>& kernels);
void refine_rows(GridderKernels<double>& kernels);

// Calls f(integral_constant<int, W>) when the width is one of the specialised ones.
template <class F, int W = 2>
void with_width(int width, F f) {
  if constexpr (W <= 16) {
    if (width == W) {
      f(std::integral_constant<int, W>());
    } else {
      with_width<F, W + 1>(width, f);
    }
  }
}

}  // namespace fourtune::runtime::cpu
