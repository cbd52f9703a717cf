// Plain numbers that describe a device, so that candidates for any machine can be listed on any other.
#pragma once

#include <cstdint>
#include <string>

#include "fourtune/export.h"

namespace fourtune {

struct DeviceTraits {
  std::string backend;  // "cpu" (later "cuda", "emulated")
  std::string name;     // processor or device name as the system reports it
  std::string isa;      // instruction set the kernels will use: "avx512", "avx2", "portable"; GPUs: "sm_90"
  int cores = 1;        // hardware threads this process may use
  std::int64_t l1_bytes = 32 * 1024;    // data cache of one core
  std::int64_t l2_bytes = 1024 * 1024;  // of one core
  std::int64_t l3_bytes = 0;            // shared
  std::int64_t memory_bytes = 0;        // installed
};

// This machine's processor. Never fails: what cannot be read keeps its default.
FOURTUNE_API DeviceTraits cpu_traits();

}  // namespace fourtune
