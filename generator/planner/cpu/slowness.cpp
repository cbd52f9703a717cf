#include "generator/planner/cpu/slowness.h"

#include <algorithm>

namespace fourtune::generator {
namespace {

// What each of several threads gets of the memory.
double far_rate(const DeviceRates& rates, int threads, int cores) {
  if (threads <= 1 || rates.copy_all <= 0) return rates.copy_far;
  return std::min(rates.copy_far, rates.copy_all / std::min(threads, std::max(1, cores)));
}

}  // namespace

Slowness slowness(const DeviceTraits& traits, Precision precision, int threads, const DeviceRates& there) {
  const DeviceRates& here = traits.rates;
  const bool f32 = precision == Precision::f32;
  Slowness out;
  out.arithmetic = f32 ? times_slower(here.flops32, there.flops32) : times_slower(here.flops64, there.flops64);
  out.near = times_slower(here.load, there.load);
  out.second = times_slower(here.copy_near, there.copy_near);
  // Prices count on memory that serves each thread of a team as it served those of the reference.
  out.far = times_slower(far_rate(here, threads, traits.cores), far_rate(there, threads, reference_cores));
  out.scalar = times_slower(here.clock, there.clock);
  out.meeting = times_slower(there.launch, here.launch);  // a time, not a rate
  return out;
}

}  // namespace fourtune::generator
