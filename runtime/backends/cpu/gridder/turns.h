// Coordinates in radians, however large, as a share of one turn.
#pragma once

namespace fourtune::runtime::cpu {

// high + low, in [-1/2, 1/2].
struct Turns {
  double high = 0, low = 0;
};

// 1/(2 pi) rounded, and what the rounding left.
inline constexpr double kInverseTwoPi = 0.15915494309189535, kInverseTwoPiLow = -9.839338337591243e-18;
inline constexpr double kManyTurns = 0x1p40;  // of more, an error-free product has too few digits behind the point

// x / (2 pi) less the nearest whole number, for 2^42 <= |x| < infinity: to 2^-115 for the very number that x is.
Turns fold_radians(double x);

}  // namespace fourtune::runtime::cpu
