// `fourtune calibrate`: what a device really does. docs/design/calibration.md says what is measured and how.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/calibration.h"
#include "runtime/backends/backend.h"
#include "tuner/calibrate/rate_test.h"

namespace fourtune::tuner {

// The time that a calibration takes at most, beside compiling kernels, unless one says otherwise.
inline constexpr double calibrate_seconds = 20;

struct CalibrateOptions {
  double seconds = calibrate_seconds;  // for all rates together, at most
  std::function<bool()> stop;          // asked before every sample; may be empty
  std::function<void(std::string_view rate, std::size_t number, std::size_t all)> report;  // may be empty
};
struct CalibrateResult {
  Calibration calibration;  // a rate that could not be measured is 0
  BusyCount busy;
  std::vector<std::string> missing;  // names of rates whose samples were disturbed by other work
  bool slowed = false;               // the device held its clocks down
};
// Throws Error{interrupted} after stop(), Error{unsupported} for a backend that runs no kernels of ours,
// Error{internal} where the device computes something wrong, and what compiling and allocating throw.
CalibrateResult calibrate(const runtime::Backend& backend, int device, const CalibrateOptions& options);

// The same for made-up rates, clocks and disturbances. It sets only the rates and their spreads.
CalibrateResult measure_rates(const std::vector<RateTestMaker>& tests, const CalibrateOptions& options,
                              const Clock& clock, const Probe& probe);

// Today, UTC: "2026-11-25".
std::string calibration_date();

}  // namespace fourtune::tuner
