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

inline constexpr std::int64_t kLeastFine = 2 * kMaxWidth;  // cells: so no window wraps around more than once

// Returns the nearest good sizes above sigma n and of at least `least` cells (variant 0), or the next larger ones
// (variant 1).
std::array<std::int64_t, 3> fine_grid(const Problem& problem, double sigma, int variant,
                                      std::int64_t least = kLeastFine);
Binding bind_window(const Problem& problem, WindowKind kind, double nominal, const std::array<std::int64_t, 3>& fine);
// With a fine grid of at least twice as many cells per side as the window has.
Binding bind_window(const Problem& problem, WindowKind kind, double nominal, int variant);

}  // namespace fourtune::generator
