// GPUs by name, with values from their data sheets, so that candidates for any of them can be listed on any machine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fourtune/device_traits.h"

namespace fourtune::generator {

// "h200", "h100", "a100", "v100", "b200", "rtx4090", "rtx5090", "l40s", "t4". memory_bandwidth is the peak; a copy
// reaches about 0.9 of it.
const std::vector<std::string>& known_device_names();
std::optional<DeviceTraits> known_device(std::string_view name);

// The GPUs on which the planners' prices and thresholds were measured. known_device() has the same numbers.
namespace h200 {
inline constexpr int multiprocessors = 132;
inline constexpr std::int64_t shared_per_block = 227 * 1024, l2_bytes = 60 << 20;
inline constexpr double clock_hz = 1.98e9, memory_bandwidth = 4.8e12;
}  // namespace h200
namespace h100 {
inline constexpr std::int64_t l2_bytes = 50 << 20;
inline constexpr double memory_bandwidth = 3.35e12;
}  // namespace h100

// What `fourtune calibrate --backend cuda` measured on an NVIDIA H200 (SXM, 132 multiprocessors at 1.98 GHz), the means
// of two runs whose medians are within 1 % except for copy_near (3 %). known_device("h200") has them.
inline constexpr DeviceRates h200_rates = [] {
  DeviceRates rates;
  rates.flops32 = 63.8e12, rates.flops64 = 33.2e12;
  rates.load = 32.7e12, rates.store = 33.1e12;
  rates.copy_near = 7.11e12, rates.copy_far = 3.79e12;
  rates.atomics32 = 916e9, rates.atomics64 = 304e9;
  rates.launch = 0.774e-6;
  return rates;
}();
// The same of an NVIDIA H100 (SXM, 132 multiprocessors at 1.98 GHz, HBM3), the means of two GPUs within 1 % of each
// other except for copy_near (4 %).
inline constexpr DeviceRates h100_rates = [] {
  DeviceRates rates;
  rates.flops32 = 63.5e12, rates.flops64 = 33.1e12;
  rates.load = 32.5e12, rates.store = 32.8e12;
  rates.copy_near = 6.15e12, rates.copy_far = 2.74e12;
  rates.atomics32 = 772e9, rates.atomics64 = 262e9;
  rates.launch = 0.953e-6;
  return rates;
}();
// The date of that measurement; empty for GPUs of which only the data sheet is known.
std::string known_device_date(std::string_view name);
// The rates above of the GPU that these traits are of, by its name, multiprocessors, clock and memory; all 0 for
// others: parts of a GPU, and those of its name with slower memory.
DeviceRates known_rates(const DeviceTraits& traits);

}  // namespace fourtune::generator
