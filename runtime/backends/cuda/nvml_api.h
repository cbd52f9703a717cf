// NVML, the management library that comes with NVIDIA's driver, declared here and loaded on first use. The interface
// follows NVIDIA's documentation, "NVML API Reference Guide".
#pragma once

#include <memory>
#include <string>

#include "runtime/backends/device_sensors.h"

namespace fourtune::runtime::cuda {

using nvmlDevice_t = struct NvmlDevice*;

struct NvmlApi {
  int (*nvmlInit_v2)();
  int (*nvmlDeviceGetHandleByPciBusId_v2)(const char* bus, nvmlDevice_t*);
  const char* (*nvmlErrorString)(int);
  // Null: the value is unknown.
  int (*nvmlDeviceGetClockInfo)(nvmlDevice_t, int clock, unsigned* mhz);
  int (*nvmlDeviceGetMaxClockInfo)(nvmlDevice_t, int clock, unsigned* mhz);
  int (*nvmlDeviceGetEnforcedPowerLimit)(nvmlDevice_t, unsigned* milliwatts);
  int (*nvmlDeviceGetPowerUsage)(nvmlDevice_t, unsigned* milliwatts);
  int (*nvmlDeviceGetTemperature)(nvmlDevice_t, int sensor, unsigned* celsius);
  int (*nvmlDeviceGetCurrentClocksThrottleReasons)(nvmlDevice_t, unsigned long long* reasons);
  int (*nvmlDeviceGetTotalEnergyConsumption)(nvmlDevice_t, unsigned long long* millijoules);
};

// Why there is no NVML; empty when it works. FOURTUNE_NVML names another library, for tests. Any thread may ask.
std::string why_no_nvml();

// The sensors of CUDA's device `ordinal`, which NVML numbers in another way and so finds by its place on the bus.
// Throws Error{backend_unavailable} that says what is missing.
std::unique_ptr<DeviceSensors> nvml_sensors(int ordinal);

}  // namespace fourtune::runtime::cuda
