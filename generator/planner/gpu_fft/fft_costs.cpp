#include "generator/planner/gpu_fft/fft_costs.h"

#include <algorithm>

#include "generator/planner/reference_rates.h"

namespace fourtune::generator::fft {

FftCosts fft_costs(const DeviceTraits& device) {
  FftCosts costs;  // on an H200, by hand (docs/design/fft-plans.md)
  const DeviceRates &here = device.rates, &there = reference_gpu;
  const double clocks = device.multiprocessors * device.clock_hz;
  if (clocks <= 0 || device.memory_bandwidth <= 0) return costs;
  // A share of what the traits promise: by how much this device's is larger or smaller than the H200's.
  const auto share = [](double rate, double promised, double rate_there, double promised_there) {
    return 1 / times_slower(rate / promised, rate_there / promised_there);
  };
  // Memory: what a copy reaches of the peak.
  costs.copy = std::min(
      1.0, costs.copy * share(here.copy_far, device.memory_bandwidth, there.copy_far, reference_gpu_bandwidth));
  // The L2 cache beside memory.
  if (here.copy_far > 0 && there.copy_far > 0)
    for (double* cached : {&costs.cached, &costs.trips_cached})
      *cached = std::max(1.0, *cached * share(here.copy_near, here.copy_far, there.copy_near, there.copy_far));
  // Clocks under load, and what the multiprocessors do in one: multiply-adds and exchanges.
  const double arithmetic = share(here.flops32, clocks, there.flops32, reference_gpu_clocks);
  costs.arithmetic *= arithmetic, costs.library_work *= arithmetic;
  costs.shared *= share(here.load, clocks, there.load, reference_gpu_clocks);
  // Kernels that follow each other, ours and the library's.
  const double launch = times_slower(there.launch, here.launch);
  costs.launch *= launch, costs.library_launch *= launch;
  return costs;
}

}  // namespace fourtune::generator::fft
