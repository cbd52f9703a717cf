// What the rates of a calibrated processor mean for the prices of the cost models.
#pragma once

#include "fourtune/device_traits.h"
#include "fourtune/problem.h"
#include "generator/planner/reference_rates.h"

namespace fourtune::generator {

// Factors on prices: how many times as long the work takes here as on the machine of the prices (reference_rates.h).
// All 1 on a processor that is not calibrated.
struct Slowness {
  double arithmetic = 1;  // operations on vectors in registers: multiply-adds of this precision
  double near = 1;        // lines of first-level cache: loads, of which kernels have more than stores
  double second = 1;      // lines of the second-level cache: copies there
  double far = 1;         // lines of memory: copies there, of as many threads
  double scalar = 1;      // calls, branches, sorting, and FFTW's code, which has narrow vectors everywhere: the clock
  double meeting = 1;     // threads that begin and end a step together
};
Slowness slowness(const DeviceTraits& traits, Precision precision, int threads,
                  const DeviceRates& there = reference_processor);

}  // namespace fourtune::generator
