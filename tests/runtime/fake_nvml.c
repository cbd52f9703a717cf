// An NVML without a GPU: what it tells is set by tests. Built as a module that is loaded instead of libnvidia-ml.so.1.
#include <stdio.h>
#include <string.h>

int fake_nvml_start_result, fake_nvml_handle_result;
int fake_nvml_result;  // of every question about a device
int fake_nvml_questions;
unsigned fake_nvml_clock = 1980, fake_nvml_memory_clock = 2619, fake_nvml_milliwatts = 312500, fake_nvml_celsius = 48;
unsigned long long fake_nvml_reasons, fake_nvml_millijoules = 5000;
char fake_nvml_bus[64];  // of the device that was asked for last

int nvmlInit_v2(void) { return fake_nvml_start_result; }
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
