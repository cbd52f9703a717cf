// The steps of enumerate.cpp: groupings and radix sequences (enumerate_groupings.cpp) and kernel options
// (enumerate_kernels.cpp).
#pragma once

#include <array>
#include <functional>
#include <string_view>
#include <vector>

#include "generator/plan/fft/geometry.h"
#include "generator/planner/gpu_fft/enumerate.h"

namespace fourtune::generator::fft {

// The rules in the order of their first use, with the total numbers of plans before and after each.
class CountTable {
 public:
  void add(std::string_view step, std::string_view rule, double before, double after);
  std::vector<RuleCount> take() { return std::move(rows_); }

 private:
  std::vector<RuleCount> rows_;
};

// parts[k][d]: the part of dimension d that kernel k transforms, a product of radices; 1: nothing.
using Grouping = std::vector<Lengths>;
// Radices of one kernel in order, by dimension.
using KernelRadices = std::array<std::vector<int>, most_dimensions>;

// Largest cluster that is tried, in blocks: a power of two, at most 8.
inline int largest_cluster(const DeviceTraits& device) {
  return device.cluster_blocks >= 8 ? 8 : device.cluster_blocks >= 4 ? 4 : device.cluster_blocks >= 2 ? 2 : 1;
}

// Registers beside the values of a thread (in f64 twice as many) with which a block may be limited to what the register
// file holds: kernels of 50 to 60 values' registers with 14 to 20 beside them spill 12 bytes at most (NVRTC 13.0,
// sm_90).
inline constexpr int least_spare_registers = 14;
// Largest number of complex values that one block, or one cluster of blocks, can hold. A kernel that is alone and
// transforms lines may limit its registers for that.
std::int64_t largest_tile(const DeviceTraits& device, Precision precision, bool alone);

// Groupings with exactly `kernels` kernels that pass the rules; counts the rules in the table.
std::vector<Grouping> groupings(const FftRequest& request, int dims, const DeviceTraits& device, int kernels,
                                CountTable& counts);

// The best groupings by a floor that depends on bytes and run lengths; `best_seconds` is the smallest floor so far (0:
// none yet).
std::vector<Grouping> best_groupings(std::vector<Grouping> all, const FftRequest& request, const DeviceTraits& device,
                                     double& best_seconds, const EnumerationLimits& limits, CountTable& counts);

// Radix sequences whose product is `part`: the shortest ones with radices up to 8, 16 and 32 (64 only if there are no
// others), in every order.
std::vector<std::vector<int>> radix_sequences(std::int64_t part);

// A plan for the grouping, without parameters. radices[k] are those of kernel k; `descending[k]` gives the order of its
// dimensions (0: x, y, z, w; 1: w, z, y, x).
FftPlan plan_of(const FftRequest& request, const Grouping& grouping, const std::vector<KernelRadices>& radices,
                const std::vector<int>& descending);

struct KernelOption {
  Kernel kernel;
  double seconds = 0;
};
// Every tile, cluster and number of threads for kernels[kernel] of the plan that fits the device with its leanest
// exchange, with the estimate for that exchange; parameters that are already bound stay. Returns the `most` best by
// increasing seconds, and counts the rules in the table.
std::vector<KernelOption> kernel_shapes(const FftPlan& plan, int kernel, const DeviceTraits& device, std::int64_t batch,
                                        int most, CountTable& counts);
// Every exchange, bank layout, twiddle form and load for kernels[kernel], whose tile, cluster and threads are bound.
// store, to and blocks stay unchanged. Counts the rules in the table.
std::vector<KernelOption> kernel_choices(const FftPlan& plan, int kernel, const DeviceTraits& device,
                                         std::int64_t batch, const EnumerationForms& forms, CountTable& counts);

}  // namespace fourtune::generator::fft
