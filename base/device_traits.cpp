// Reads the processor's traits from the operating system.
#include "fourtune/device_traits.h"

#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <string_view>

#include "base/text.h"
#include "base/usable_threads.h"

namespace fourtune {
namespace {

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.rfind("model name", 0) == 0) {
      const auto at = line.find_first_not_of(" \t", line.find(':') + 1);
      if (at != std::string::npos) return line.substr(at);
    }
#if defined(__x86_64__)  // the same text, where there is no /proc
  std::array<unsigned, 12> words{};
  unsigned last = __get_cpuid_max(0x80000000u, nullptr);
  for (unsigned part = 0; part < 3 && last >= 0x80000004u; ++part)
    __get_cpuid(0x80000002u + part, &words[4 * part], &words[4 * part + 1], &words[4 * part + 2], &words[4 * part + 3]);
  std::array<char, sizeof words + 1> brand{};
  std::memcpy(brand.data(), words.data(), sizeof words);
  const std::string_view name = brand.data();
  const auto first = name.find_first_not_of(' '), end = name.find_last_not_of(' ') + 1;
  if (end > 0) return std::string(name.substr(first, end - first));
#endif
  return "unknown processor";
}

// Reads sizes such as "48K" from /sys/devices/system/cpu/cpu0/cache/index*/size; where there is no /sys, the C library
// asks the processor.
void read_caches(DeviceTraits& traits) {
  for (int index = 0; index < 6; ++index) {
    const std::string folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/";
    if (first_line(folder + "type") == "Instruction") continue;
    const std::string size = first_line(folder + "size");
    if (size.empty()) continue;
    const auto number = text::number<std::int64_t>(std::string_view(size).substr(0, size.find_first_of("KM")));
    if (!number || *number <= 0) continue;
    const std::int64_t bytes = *number * (size.back() == 'M' ? 1024 * 1024 : size.back() == 'K' ? 1024 : 1);
    const std::string level = first_line(folder + "level");
    if (level == "1") traits.l1_bytes = bytes;
    if (level == "2") traits.l2_bytes = bytes;
    if (level == "3") traits.l3_bytes = bytes;
  }
  const auto ask = [](std::int64_t& bytes, int name) {
    if (bytes == 0) bytes = std::max(0L, sysconf(name));
  };
  ask(traits.l1_bytes, _SC_LEVEL1_DCACHE_SIZE);
  ask(traits.l2_bytes, _SC_LEVEL2_CACHE_SIZE);
  ask(traits.l3_bytes, _SC_LEVEL3_CACHE_SIZE);
}

const char* instruction_set() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512bw"))
    return "avx512";
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return "avx2";
#endif
  return "portable";
}

}  // namespace

DeviceTraits cpu_traits() {
  DeviceTraits traits;
  traits.backend = "cpu";
  traits.name = processor_name();
  traits.isa = instruction_set();
  traits.cores = usable_threads();
  read_caches(traits);
  const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  if (pages > 0 && page > 0) traits.memory_bytes = static_cast<std::int64_t>(pages) * page;
  return traits;
}

}  // namespace fourtune
