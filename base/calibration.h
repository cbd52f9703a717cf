// What `fourtune calibrate` measured on a device, as a file: cost models take the rates, and `explain`, `plan` and
// `emit` can ask for a device that is not in this machine. The format is in docs/design/calibration.md.
#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <string_view>

#include "fourtune/device_traits.h"

namespace fourtune {

struct RateField {
  std::string_view name;
  double DeviceRates::*value;
  std::string_view unit;  // "flop/s", "B/s", "Hz", "add/s" or "s"
};
// All of them, in the order in which they are shown.
inline constexpr std::array<RateField, 11> rate_fields{{{"flops32", &DeviceRates::flops32, "flop/s"},
                                                        {"flops64", &DeviceRates::flops64, "flop/s"},
                                                        {"load", &DeviceRates::load, "B/s"},
                                                        {"store", &DeviceRates::store, "B/s"},
                                                        {"copy_near", &DeviceRates::copy_near, "B/s"},
                                                        {"copy_far", &DeviceRates::copy_far, "B/s"},
                                                        {"copy_all", &DeviceRates::copy_all, "B/s"},
                                                        {"clock", &DeviceRates::clock, "Hz"},
                                                        {"atomics32", &DeviceRates::atomics32, "add/s"},
                                                        {"atomics64", &DeviceRates::atomics64, "add/s"},
                                                        {"launch", &DeviceRates::launch, "s"}}};

struct Calibration {
  DeviceTraits traits;  // with the rates
  DeviceRates spread;   // of each rate: half of the interval of at least 95 % of its median, relative
  std::string date;     // of the measurement, UTC: 2026-11-25
  std::string program;  // that measured: "fourtune 0.7.0"
};

// Where this user's calibrations are: $FOURTUNE_CALIBRATIONS, else the folder "devices" of the user's data. Empty:
// there are none, as FOURTUNE_CALIBRATIONS is empty or there is no home.
std::filesystem::path calibration_folder();
// The name of a device's file, made of backend, name and instruction set: "cpu-intel-r-xeon-r-processor-avx512.json".
std::string calibration_name(const DeviceTraits& traits);

// The text of its file.
std::string to_json(const Calibration& calibration);
// Writes the file whole or not at all, and makes its folder. Throws Error{io}.
void save(const Calibration& calibration, const std::filesystem::path& file);
// Throws Error{io} for a file that cannot be read and Error{invalid_argument} for one that is no calibration, is of a
// later version or has a number that no device has; the text names the file and what is wrong.
Calibration load_calibration(const std::filesystem::path& file);

// What the user's folder has of this device.
struct KnownCalibration {
  DeviceRates rates;  // all 0: nothing
  std::string date;   // empty: there is no file, or none that can be used
  std::string why;    // one that is there cannot: it is of another device, or load_calibration refuses it
};
// A file is read once per process; save() makes it be read again. Any thread. Throws nothing but bad_alloc.
KnownCalibration known_calibration(const DeviceTraits& traits);

}  // namespace fourtune
