// Thresholds of nonuniform plans that were measured on an H200, for any GPU.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/known_devices.h"

namespace fourtune::generator::nufft {

// With fewer points than this on an H200 there is not enough parallel work and only latency matters.
inline constexpr double kFewPoints = 1e5;

// As many points, additions or warps, which keep the H200 busy, for a device with so many multiprocessors; 0: unknown.
inline double filling(double of_h200, int multiprocessors) {
  return multiprocessors > 0 ? of_h200 * multiprocessors / h200::multiprocessors : of_h200;
}

// Bytes that stay in an L2 cache of this size where so many stay in that of an H200; 0: unknown. Between the caches of
// an H100 (50 MiB) and an H200 (60 MiB), on both of which the thresholds were measured, nothing changes.
inline double cached(double of_h200, std::int64_t l2_bytes) {
  if (l2_bytes <= 0) return of_h200;
  const auto l2 = static_cast<double>(l2_bytes), least = static_cast<double>(h100::l2_bytes),
             most = static_cast<double>(h200::l2_bytes);
  return of_h200 * std::min(1.0, l2 / least) * std::max(1.0, l2 / most);
}

}  // namespace fourtune::generator::nufft
