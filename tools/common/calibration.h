// Calibrations on the command line: making one, and telling people about them.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/calibration.h"
#include "runtime/backends/backend.h"
#include "tuner/calibrate/calibrate.h"

namespace fourtune::tools {

// "52.1 Gflop/s", "1.52 us".
std::string rate_text(double value, std::string_view unit);
// "copies in memory, one core", for the rate of that name.
std::string what_is_measured(std::string_view backend, std::string_view rate);

// Where cost models look for the calibration of this device. Throws UsageError where there is no such place.
std::filesystem::path own_calibration_file(const DeviceTraits& traits);

// Measures the device and writes the file, with progress on stderr unless `quiet`; Ctrl-C throws Error{interrupted}.
// Notes on stderr name what was not measured. Throws Failure when nothing was.
tuner::CalibrateResult calibrated(const runtime::Backend& backend, int device, double seconds,
                                  const std::filesystem::path& file, bool quiet, const std::string& title);

// "calibrated on 2026-11-25", "not calibrated", or why its file is of no use.
std::string calibration_state(const DeviceTraits& traits);
// Says on stderr, once in a process, that the file of this device's calibration is of no use.
void warn_of_calibration(const DeviceTraits& traits);

}  // namespace fourtune::tools
