// Numbers that describe a device, so that candidates for any machine can be listed on any other machine.
#pragma once

#include <cstdint>
#include <string>

#include "fourtune/export.h"

namespace fourtune {

struct DeviceTraits {
  std::string backend;  // "cpu", "cuda" or "emulated"
  std::string name;     // processor or device name as the system reports it
  std::string isa;      // instruction set the kernels will use: "avx512", "avx2", "portable"; GPUs: "sm_90"
  int cores = 1;        // threads that this process can use: affinity, CPU quota, OMP_NUM_THREADS
  std::int64_t l1_bytes = 32 * 1024;    // data cache of one core
  std::int64_t l2_bytes = 1024 * 1024;  // per core
  std::int64_t l3_bytes = 0;            // shared by the cores
  std::int64_t memory_bytes = 0;        // installed

  // GPUs only. For a GPU, l2_bytes is the whole device's L2 cache, and cores counts the host's hardware threads.
  int compute_capability = 0;  // 10 major + minor: 90 for sm_90
  int multiprocessors = 0;
  int threads_per_multiprocessor = 0;          // largest number of resident threads
  int registers_per_multiprocessor = 0;        // 32-bit registers
  std::int64_t shared_per_multiprocessor = 0;  // bytes
  std::int64_t shared_per_block = 0;           // bytes, the opt-in maximum
  int cluster_blocks = 1;                      // largest number of blocks in a cluster
  double clock_hz = 0;                         // boost clock of the multiprocessors
  double memory_bandwidth = 0;                 // bytes/s, read plus write
};

// Traits of this machine's processor. Never fails: a value that cannot be read keeps its default.
FOURTUNE_API DeviceTraits cpu_traits();

}  // namespace fourtune
