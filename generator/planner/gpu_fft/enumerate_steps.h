// The steps of enumerate.cpp: groupings and kernel options.
#pragma once

#include <array>
#include <functional>
#include <vector>

#include "generator/plan/fft/geometry.h"
#include "generator/planner/gpu_fft/enumerate.h"

namespace fourtune::generator::fft {

// Rules in the order of their first use, with sums of what they saw and left.
class CountTable {
 public:
  void add(const char* step, const char* rule, double before, double after);
  std::vector<RuleCount> take() { return std::move(rows_); }

 private:
  std::vector<RuleCount> rows_;
};

// parts[k][d]: what kernel k transforms of dimension d, a product of radices; 1: nothing.
using Grouping = std::vector<std::array<std::int64_t, 3>>;

// Most blocks of a cluster that are tried: a power of two, at most 8.
inline int largest_cluster(const DeviceTraits& device) {
  return device.cluster_blocks >= 8 ? 8 : device.cluster_blocks >= 4 ? 4 : device.cluster_blocks >= 2 ? 2 : 1;
}

// What one block, or cluster of blocks, can hold at most, in complex values.
std::int64_t largest_tile(const DeviceTraits& device, Precision precision);

// Groupings with exactly `kernels` kernels that pass the rules, counted in the table.
std::vector<Grouping> groupings(const FftRequest& request, int dims, const DeviceTraits& device, int kernels,
                                CountTable& counts);

// The best of them by a floor that knows bytes and run lengths; `best_seconds` is the least floor so far (0: none yet).
std::vector<Grouping> best_groupings(std::vector<Grouping> all, const FftRequest& request, const DeviceTraits& device,
                                     double& best_seconds, const EnumerationLimits& limits, CountTable& counts);

// Radix sequences whose product is `part`: the shortest with radices up to 8, 16 and 32 (64 alone), in every order.
std::vector<std::vector<int>> radix_sequences(std::int64_t part);

// A plan of the grouping: radices[k][d] in order, dimensions of kernel k in the order `dims_first[k]` (0: x, y, z; 1:
// z, y, x). No parameters.
FftPlan plan_of(const FftRequest& request, const Grouping& grouping,
                const std::vector<std::array<std::vector<int>, 3>>& radices, const std::vector<int>& descending);

struct KernelOption {
  Kernel kernel;
  double seconds = 0;
};
// Every tile, cluster and number of threads for kernels[kernel] of the plan (those already bound stay) that fits the
// device with its leanest exchange, and the estimate with that; the `most` best, by rising seconds. Counted in the
// table.
std::vector<KernelOption> kernel_shapes(const FftPlan& plan, int kernel, const DeviceTraits& device, std::int64_t batch,
                                        int most, CountTable& counts);
// Every exchange, bank layout, twiddle form and load for kernels[kernel], whose tile, cluster and threads are bound.
// store, to and blocks stay. Counted in the table.
std::vector<KernelOption> kernel_choices(const FftPlan& plan, int kernel, const DeviceTraits& device,
                                         std::int64_t batch, const EnumerationForms& forms, CountTable& counts);

}  // namespace fourtune::generator::fft
