// Numbers that describe a device, so that candidates for any machine can be listed on any other machine.
#pragma once

#include <cstdint>
#include <string>

#include "fourtune/export.h"

namespace fourtune {

// What `fourtune calibrate` measured on a device. Cost models take these rates in place of what they assume of such a
// device. 0: not measured. For a processor they are rates of one core, except for copy_all and launch; for a GPU, of
// the whole device.
struct DeviceRates {
  double flops32 = 0, flops64 = 0;      // operations per second in multiply-adds, each of which is two
  double load = 0, store = 0;           // bytes per second from and to the first-level cache, or shared memory
  double copy_near = 0;                 // bytes per second, read plus written, in the second-level cache
  double copy_far = 0;                  // the same in memory
  double atomics32 = 0, atomics64 = 0;  // GPUs: additions per second to separate words in the L2 cache
  double copy_all = 0;                  // processors: copy_far of all cores together
  double clock = 0;                     // processors: dependent additions per second, one per cycle
  double launch = 0;  // seconds. Processors: all cores begin a loop and meet at its end; GPUs: a kernel that waits for
                      // the one before it
};

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

  DeviceRates rates;
};

// Traits of this machine's processor. Never fails: a value that cannot be read keeps its default.
FOURTUNE_API DeviceTraits cpu_traits();

}  // namespace fourtune
