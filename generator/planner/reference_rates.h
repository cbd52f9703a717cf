// The devices on which the prices of the cost models were measured, by their own calibrations (`fourtune calibrate`,
// docs/design/calibration.md). A calibrated device is compared with them; nothing else knows their rates.
#pragma once

#include <algorithm>

#include "base/known_devices.h"
#include "fourtune/device_traits.h"

namespace fourtune::generator {

// An Intel Xeon (family 6, model 167) with AVX-512 and 2 MB of second-level cache a core, two cores of a virtual
// machine that had nothing else to do. It stands for the Xeons of that kind on which the prices were fitted.
inline constexpr int reference_cores = 2;
inline constexpr DeviceRates reference_processor = [] {
  DeviceRates rates;
  rates.flops32 = 242.5e9, rates.flops64 = 121.2e9, rates.clock = 4.15e9;
  rates.load = 336e9, rates.store = 261e9;
  rates.copy_near = 105.9e9, rates.copy_far = 14.7e9, rates.copy_all = 28.2e9;
  rates.launch = 1.15e-6;
  return rates;
}();

// An AMD EPYC (Zen 4) with AVX-512, two cores of a virtual machine that had nothing else to do: of the prices of FFTs
// on AMD's processors (cpu/fft_prices.cpp).
inline constexpr DeviceRates reference_epyc = [] {
  DeviceRates rates;
  rates.flops32 = 118.2e9, rates.flops64 = 59.1e9, rates.clock = 3.74e9;
  rates.load = 212.5e9, rates.store = 118.2e9;
  rates.copy_near = 114.8e9, rates.copy_far = 29.3e9, rates.copy_all = 36.4e9;
  rates.launch = 0.83e-6;
  return rates;
}();

// An NVIDIA H200. Its traits promise this.
inline constexpr DeviceRates reference_gpu = h200_rates;
inline constexpr double reference_gpu_clocks = h200::multiprocessors * h200::clock_hz,
                        reference_gpu_bandwidth = h200::memory_bandwidth;
// Bytes per second that its multiprocessors read of shared memory, 128 per clock, at the 1.75 GHz that it keeps when
// all of them do.
inline constexpr double reference_gpu_shared = 128 * (h200::multiprocessors * 1.75e9);

// How many times as long this device takes for what it does at rate `here`, where the reference has `reference`. 1
// where either was not measured. No further than a factor of 4 either way: prices that were fitted on such another
// machine would say nothing of this one, and a damaged measurement must not do more harm than that.
inline double times_slower(double here, double reference) {
  return here > 0 && reference > 0 ? std::clamp(reference / here, 0.25, 4.0) : 1;
}

}  // namespace fourtune::generator
