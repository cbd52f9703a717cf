#include "runtime/backends/cpu/gridder/turns.h"

#include <cmath>
#include <cstdint>

#include "base/inverse_two_pi.h"

namespace fourtune::runtime::cpu {

__extension__ typedef unsigned __int128 Wide;

// |x| = M 2^e with an integer M below 2^53. Digits of 1/(2 pi) whose products with M 2^e are whole turns are left out;
// of the following digits, 192 are enough. Overflow consists of whole turns too.
Turns fold_radians(double x) {
  int exponent = 0;
  const auto mantissa = static_cast<std::uint64_t>(std::ldexp(std::frexp(std::fabs(x), &exponent), 53));
  const int offset = exponent - 53;
  const Wide last = static_cast<Wide>(mantissa) * inverse_two_pi_digits(offset + 128);
  const Wide middle = static_cast<Wide>(mantissa) * inverse_two_pi_digits(offset + 64) + (last >> 64);
  const std::uint64_t first = mantissa * inverse_two_pi_digits(offset) + static_cast<std::uint64_t>(middle >> 64);
  Wide fraction = static_cast<Wide>(first) << 64 | static_cast<std::uint64_t>(middle);  // in units of 2^-128
  bool negative = x < 0;
  if (fraction >> 127 != 0) {  // more than half a turn: use the complement
    fraction = -fraction;
    negative = !negative;
  }
  const auto top = static_cast<std::uint64_t>(fraction >> 75);  // 53 bits
  const auto rest = static_cast<std::uint64_t>(fraction >> 11);
  const double high = std::ldexp(static_cast<double>(top), -53), low = std::ldexp(static_cast<double>(rest), -117);
  return negative ? Turns{-high, -low} : Turns{high, low};
}

}  // namespace fourtune::runtime::cpu
