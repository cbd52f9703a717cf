// Converts coordinates in radians, however large, to a fraction of one turn.
#pragma once

namespace fourtune::runtime::cpu {

// high + low is in [-1/2, 1/2].
struct Turns {
  double high = 0, low = 0;
};

// 1/(2 pi) rounded, and its rounding error.
inline constexpr double kInverseTwoPi = 0.15915494309189535, kInverseTwoPiLow = -9.839338337591243e-18;
inline constexpr double kManyTurns = 0x1p40;  // with more turns, an error-free product has too few fractional digits

// x / (2 pi) minus the nearest whole number, for 2^42 <= |x| < infinity; accurate to 2^-115 for the exact value of x.
Turns fold_radians(double x);

}  // namespace fourtune::runtime::cpu
