// An NVML without a GPU: what it tells is set by tests. Built as a module that is loaded instead of libnvidia-ml.so.1.
// FOURTUNE_FAKE_NVML_REASONS: why the clocks are held down, a number of bits, for tests that start a program.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int fake_nvml_start_result, fake_nvml_handle_result;
int fake_nvml_result;  // of every question about a device
int fake_nvml_questions;
unsigned fake_nvml_clock = 1980, fake_nvml_memory_clock = 2619, fake_nvml_max_clock = 2040,
         fake_nvml_max_memory_clock = 3201, fake_nvml_power_limit = 700000, fake_nvml_milliwatts = 312500,
         fake_nvml_celsius = 48;
unsigned long long fake_nvml_reasons, fake_nvml_millijoules = 5000;
char fake_nvml_bus[64];  // of the device that was asked for last

int nvmlInit_v2(void) {
  const char* const reasons = getenv("FOURTUNE_FAKE_NVML_REASONS");
  if (reasons) fake_nvml_reasons = strtoull(reasons, 0, 0);
  return fake_nvml_start_result;
}
const char* nvmlErrorString(int result) { return result == 6 ? "Not Found" : "Some Error"; }
int nvmlDeviceGetHandleByPciBusId_v2(const char* bus, void** device) {
  snprintf(fake_nvml_bus, sizeof fake_nvml_bus, "%s", bus);
  *device = fake_nvml_bus;
  return fake_nvml_handle_result;
}
int nvmlDeviceGetClockInfo(void* device, int clock, unsigned* mhz) {
  (void)device, ++fake_nvml_questions;
  *mhz = clock == 1 ? fake_nvml_clock : clock == 2 ? fake_nvml_memory_clock : 0;
  return fake_nvml_result;
}
int nvmlDeviceGetMaxClockInfo(void* device, int clock, unsigned* mhz) {
  (void)device, ++fake_nvml_questions;
  *mhz = clock == 1 ? fake_nvml_max_clock : clock == 2 ? fake_nvml_max_memory_clock : 0;
  return fake_nvml_result;
}
int nvmlDeviceGetEnforcedPowerLimit(void* device, unsigned* milliwatts) {
  (void)device, ++fake_nvml_questions;
  return *milliwatts = fake_nvml_power_limit, fake_nvml_result;
}
int nvmlDeviceGetPowerUsage(void* device, unsigned* milliwatts) {
  (void)device, ++fake_nvml_questions;
  return *milliwatts = fake_nvml_milliwatts, fake_nvml_result;
}
int nvmlDeviceGetTemperature(void* device, int sensor, unsigned* celsius) {
  (void)device, ++fake_nvml_questions;
  return *celsius = sensor == 0 ? fake_nvml_celsius : 0, fake_nvml_result;
}
int nvmlDeviceGetCurrentClocksThrottleReasons(void* device, unsigned long long* reasons) {
  (void)device, ++fake_nvml_questions;
  return *reasons = fake_nvml_reasons, fake_nvml_result;
}
int nvmlDeviceGetTotalEnergyConsumption(void* device, unsigned long long* millijoules) {
  (void)device, ++fake_nvml_questions;
  return *millijoules = fake_nvml_millijoules, fake_nvml_result;
}
