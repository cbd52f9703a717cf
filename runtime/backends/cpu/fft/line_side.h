// Which positions of a line an array holds, and where: all of them, or only those around position 0.
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

#include "runtime/backends/backend.h"
#include "runtime/backends/cpu/fft/lines.h"

namespace fourtune::runtime::cpu {

// Where positions of a transform of length n lie in an array: those from 0 up, then those below 0 (as n - 1, n - 2,
// ..).
struct LineSide {
  LineRange low, high;
  std::int64_t low_at = 0, high_at = 0;
};
inline LineSide whole_side(std::int64_t n) { return {{0, n}, {n, 0}, 0, 0}; }
inline LineSide part_side(std::int64_t n, std::int64_t count, ModeOrder order) {
  const std::int64_t negative = count / 2, positive = count - negative;
  const bool centred = order == ModeOrder::centred;
  return {{0, positive}, {n - negative, negative}, centred ? negative : 0, centred ? 0 : positive};
}

// Factors of the modes |k| = 0, 1, .. in the order in which the side stores them; empty if there are none.
template <class T>
std::vector<T> factors_in_order(const std::vector<double>& factors, const LineSide& side) {
  if (factors.empty()) return {};
  std::vector<T> ordered(static_cast<std::size_t>(side.low.count + side.high.count));
  for (std::int64_t k = 0; k < side.low.count; ++k)
    ordered[static_cast<std::size_t>(side.low_at + k)] = static_cast<T>(factors[static_cast<std::size_t>(k)]);
  for (std::int64_t k = 0; k < side.high.count; ++k)
    ordered[static_cast<std::size_t>(side.high_at + k)] =
        static_cast<T>(factors[static_cast<std::size_t>(side.high.count - k)]);
  return ordered;
}

// Loads the positions that the array holds and zeroes the others; factor has one number per place of the side, or is
// null.
template <class T>
void load_side(const LineFft<T>& fft, void* work, const std::complex<T>* array, const LinePlaces& places,
               const LineSide& side, const T* factor) {
  const auto from = [&](std::int64_t at) { return factor == nullptr ? nullptr : factor + at; };
  fft.load(work, array + side.low_at * places.step, places, side.low, from(side.low_at));
  if (side.low.count < side.high.first) fft.zero(work, {side.low.count, side.high.first - side.low.count});
  if (side.high.count > 0) fft.load(work, array + side.high_at * places.step, places, side.high, from(side.high_at));
}
// Stores the positions that the array holds.
template <class T>
void store_side(const LineFft<T>& fft, const void* result, std::complex<T>* array, const LinePlaces& places,
                const LineSide& side, const T* factor) {
  const auto from = [&](std::int64_t at) { return factor == nullptr ? nullptr : factor + at; };
  fft.store(result, array + side.low_at * places.step, places, side.low, from(side.low_at));
  if (side.high.count > 0) fft.store(result, array + side.high_at * places.step, places, side.high, from(side.high_at));
}

}  // namespace fourtune::runtime::cpu
