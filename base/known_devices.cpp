#include "base/known_devices.h"

#include <cmath>

namespace fourtune::generator {
namespace {

constexpr std::int64_t KiB = 1024, MiB = KiB * KiB, GiB = MiB * KiB;

struct Sheet {
  const char* name;
  const char* full_name;
  int compute_capability, multiprocessors, threads;
  std::int64_t shared_multiprocessor, shared_block;
  int cluster;
  std::int64_t l2, memory;
  double clock, bandwidth;
};
// Shared memory, threads and clusters by compute capability follow the CUDA C++ programming guide's table of technical
// specifications; the rest is from the vendors' data sheets. All have 65536 registers per multiprocessor.
constexpr Sheet sheets[] = {
    {"h200", "NVIDIA H200", 90, h200::multiprocessors, 2048, 228 * KiB, h200::shared_per_block, 8, h200::l2_bytes,
     141 * GiB, h200::clock_hz, h200::memory_bandwidth},
    {"h100", "NVIDIA H100 SXM", 90, 132, 2048, 228 * KiB, 227 * KiB, 8, h100::l2_bytes, 80 * GiB, 1.98e9,
     h100::memory_bandwidth},
    {"b200", "NVIDIA B200", 100, 148, 2048, 228 * KiB, 227 * KiB, 8, 126 * MiB, 180 * GiB, 1.965e9, 8.0e12},
    {"a100", "NVIDIA A100 80GB", 80, 108, 2048, 164 * KiB, 163 * KiB, 1, 40 * MiB, 80 * GiB, 1.41e9, 2.039e12},
    {"v100", "NVIDIA V100", 70, 80, 2048, 96 * KiB, 96 * KiB, 1, 6 * MiB, 16 * GiB, 1.53e9, 0.9e12},
    {"rtx4090", "NVIDIA GeForce RTX 4090", 89, 128, 1536, 100 * KiB, 99 * KiB, 1, 72 * MiB, 24 * GiB, 2.52e9, 1.008e12},
    {"rtx5090", "NVIDIA GeForce RTX 5090", 120, 170, 1536, 100 * KiB, 99 * KiB, 8, 96 * MiB, 32 * GiB, 2.41e9,
     1.792e12},
    {"l40s", "NVIDIA L40S", 89, 142, 1536, 100 * KiB, 99 * KiB, 1, 96 * MiB, 48 * GiB, 2.52e9, 0.864e12},
    {"t4", "NVIDIA T4", 75, 40, 1024, 64 * KiB, 64 * KiB, 1, 4 * MiB, 16 * GiB, 1.59e9, 0.32e12},
};

struct Measured {
  std::string_view name, in_full;  // what the driver's name contains
  DeviceRates rates;
  const char* date;
};
constexpr Measured measured[] = {{"h200", "H200", h200_rates, "2026-11-25"},
                                 {"h100", "H100", h100_rates, "2026-11-26"}};

}  // namespace

const std::vector<std::string>& known_device_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> out;
    for (const Sheet& sheet : sheets) out.emplace_back(sheet.name);
    return out;
  }();
  return names;
}

std::optional<DeviceTraits> known_device(std::string_view name) {
  for (const Sheet& sheet : sheets) {
    if (name != sheet.name) continue;
    DeviceTraits out;
    out.backend = "cuda";
    out.name = sheet.full_name;
    out.isa = "sm_" + std::to_string(sheet.compute_capability);
    out.l2_bytes = sheet.l2;
    out.memory_bytes = sheet.memory;
    out.compute_capability = sheet.compute_capability;
    out.multiprocessors = sheet.multiprocessors;
    out.threads_per_multiprocessor = sheet.threads;
    out.registers_per_multiprocessor = 65536;
    out.shared_per_multiprocessor = sheet.shared_multiprocessor;
    out.shared_per_block = sheet.shared_block;
    out.cluster_blocks = sheet.cluster;
    out.clock_hz = sheet.clock;
    out.memory_bandwidth = sheet.bandwidth;
    for (const Measured& one : measured)
      if (name == one.name) out.rates = one.rates;
    return out;
  }
  return std::nullopt;
}

std::string known_device_date(std::string_view name) {
  for (const Measured& one : measured)
    if (name == one.name) return one.date;
  return "";
}

DeviceRates known_rates(const DeviceTraits& traits) {
  const auto alike = [](double here, double there) { return std::abs(here / there - 1) < 0.02; };
  for (const Measured& one : measured) {
    const DeviceTraits known = *known_device(one.name);
    if (traits.name.find(one.in_full) != std::string::npos && traits.multiprocessors == known.multiprocessors &&
        alike(traits.clock_hz, known.clock_hz) && alike(traits.memory_bandwidth, known.memory_bandwidth))
      return one.rates;
  }
  return {};
}

}  // namespace fourtune::generator
