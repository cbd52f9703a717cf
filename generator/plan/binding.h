// Derives the fine grid and the window width from an oversampling factor, for problems of types 1 and 2.
#pragma once

#include <array>
#include <cstdint>

#include "fourtune/problem.h"
#include "generator/window/window.h"

namespace fourtune::generator {

inline constexpr double kStillRight = 2;  // times the tolerance; validation accepts results up to 3 times the tolerance

// The fine grid, the oversampling factor that it gives, and the window width that the tolerance then needs.
struct Binding {
  std::array<std::int64_t, 3> fine{0, 0, 0};
  double sigma = 0;
  int width = 0;     // smallest width that meets the tolerance; 0: none does
  int narrower = 0;  // width - 1, if its predicted error still counts as right; else 0
};

// Returns the nearest good sizes above sigma n (variant 0), or the next larger ones (variant 1).
std::array<std::int64_t, 3> fine_grid(const Problem& problem, double sigma, int variant);
Binding bind_window(const Problem& problem, WindowKind kind, double nominal, const std::array<std::int64_t, 3>& fine);
inline Binding bind_window(const Problem& problem, WindowKind kind, double nominal, int variant) {
  return bind_window(problem, kind, nominal, fine_grid(problem, nominal, variant));
}

}  // namespace fourtune::generator
