// What an oversampling means for a problem of type 1 or 2: the fine grid and the width of the window.
#pragma once

#include <array>
#include <cstdint>

#include "fourtune/problem.h"
#include "generator/window/window.h"

namespace fourtune::generator {

inline constexpr double kStillRight = 2;  // times the tolerance; a result counts as right up to 3 (validation decides)

// Grid, oversampling as it came out, and the width that the tolerance then needs.
struct Binding {
  std::array<std::int64_t, 3> fine{0, 0, 0};
  double sigma = 0;
  int width = 0;     // least that meets the tolerance; 0: none does
  int narrower = 0;  // one less, if its predicted error is still within what counts as right; else 0
};

// The nearest good sizes above sigma n (variant 0), or the next ones (variant 1).
std::array<std::int64_t, 3> fine_grid(const Problem& problem, double sigma, int variant);
Binding bind_window(const Problem& problem, WindowKind kind, double nominal, const std::array<std::int64_t, 3>& fine);
inline Binding bind_window(const Problem& problem, WindowKind kind, double nominal, int variant) {
  return bind_window(problem, kind, nominal, fine_grid(problem, nominal, variant));
}

}  // namespace fourtune::generator
