// Floors and a cost estimate of GPU FFT plans. A floor is a bound that no kernel can beat on the device (as its traits
// state it); the estimate orders candidates before anything is measured, and nothing else. Its constants come from runs
// of emitted kernels on an H200 (docs/fft-plans.md).
#pragma once

#include "fourtune/device_traits.h"
#include "generator/plan/fft/geometry.h"
#include "generator/plan/fft/notation.h"

namespace fourtune::generator::fft {

struct Floors {         // seconds for a batch of transforms
  double bytes = 0;     // every kernel reads and writes all data once at copy bandwidth (none where it stays in L2)
  double flops = 0;     // at the peak rate of multiply-adds
  double launches = 0;  // one after the other
  double total = 0;     // sum over kernels of the greater of bytes and flops, and of launches
};
Floors floors(const FftPlan& plan, const DeviceTraits& device, std::int64_t batch = 1);

// Peak floating-point operations a second, a fused multiply-add counted as two.
double peak_flops(const DeviceTraits& device, Precision precision);
// Copy bandwidth: 0.9 of the data sheet's.
double copy_bandwidth(const DeviceTraits& device);
// Part of copy bandwidth that scattered contiguous runs of this many bytes reach.
double run_efficiency(double run_bytes);
// The same of bulk copies whose rows are this long.
double bulk_efficiency(double row_bytes);

// Estimated seconds of one kernel; the plan is bound.
double kernel_seconds(const FftPlan& plan, int kernel, const DeviceTraits& device, std::int64_t batch = 1);
// The same with what the caller already knows of the kernel;
double kernel_seconds(const FftPlan& plan, const Kernel& kernel, const KernelGeometry& geometry, double flops,
                      const DeviceTraits& device, std::int64_t batch);
double plan_seconds(const FftPlan& plan, const DeviceTraits& device, std::int64_t batch = 1);

}  // namespace fourtune::generator::fft
