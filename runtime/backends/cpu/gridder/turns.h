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

// Half a turn further on or back, still in [-1/2, 1/2]: for a centre at -pi.
inline constexpr double kHalfTurnBack = -3.14159265358979323846;
inline Turns half_a_turn_on(Turns turns) {
  const double half = turns.high < 0 ? 0.5 : -0.5, high = turns.high + half;
  return {high, turns.low + (turns.high - (high - half))};  // what the sum has lost
}

}  // namespace fourtune::runtime::cpu
