#include "generator/codegen/fft/lower/roots.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace fourtune::generator::fft {
namespace {

// The angle is reduced to at most an eighth of a turn first, so that quarters and halves are exact.
std::complex<long double> root(std::int64_t k, std::int64_t n, int sign) {
  const std::int64_t eighth = 8 * k / n;          // of a turn
  const std::int64_t quarter = (eighth + 1) / 2;  // the nearest
  const std::int64_t rest = 4 * k - quarter * n;  // in units of a quarter / n
  const long double angle =
      std::numbers::pi_v<long double> / 2 * static_cast<long double>(rest) / static_cast<long double>(n);
  const long double c = std::cos(angle), s = std::sin(angle);
  switch (quarter % 4) {
    case 0:
      return {c, sign * s};
    case 1:
      return {-s, sign * c};
    case 2:
      return {-c, -sign * s};
    default:
      return {s, -sign * c};
  }
}

}  // namespace

Roots::Roots(std::int64_t n, int sign) {
  while (step_ * step_ < n) step_ *= 2;
  for (std::int64_t k = 0; k < n; k += step_) coarse_.push_back(root(k, n, sign));
  for (std::int64_t k = 0; k < std::min(step_, n); ++k) fine_.push_back(root(k, n, sign));
}

}  // namespace fourtune::generator::fft
