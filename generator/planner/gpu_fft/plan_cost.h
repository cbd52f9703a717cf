// Floors and a cost estimate of GPU FFT plans. A floor is a time that no kernel can beat on the device (as its traits
// describe it). The estimate serves only to order candidates before anything is measured. Its constants are the
// device's (fft_costs.h).
#pragma once

#include "fourtune/device_traits.h"
#include "generator/plan/fft/geometry.h"
#include "generator/plan/fft/notation.h"
#include "generator/planner/gpu_fft/fft_costs.h"

namespace fourtune::generator::fft {

struct Floors {         // seconds for a batch of transforms
  double bytes = 0;     // every kernel reads and writes all data once at copy (or L2) bandwidth
  double flops = 0;     // at the peak rate of multiply-adds
  double launches = 0;  // one launch after the other
  double total = 0;     // sum over kernels of max(bytes, flops) + launch
};
Floors floors(const FftPlan& plan, const DeviceTraits& device, std::int64_t batch = 1);

// Peak floating-point operations per second; a fused multiply-add counts as two.
double peak_flops(const DeviceTraits& device, Precision precision);
// Copy bandwidth: what a copy reaches of the bandwidth in the data sheet.
double copy_bandwidth(const DeviceTraits& device);
// Share of copy bandwidth that scattered contiguous runs of this many bytes reach.
double run_efficiency(double run_bytes, const FftCosts& costs = {}, bool cached = false);
// The same for bulk copies whose rows have this many bytes.
double bulk_efficiency(double row_bytes);

// Estimated seconds of one kernel. The plan must be bound.
double kernel_seconds(const FftPlan& plan, int kernel, const DeviceTraits& device, std::int64_t batch = 1);
// The same, using what the caller already knows about the kernel.
double kernel_seconds(const FftPlan& plan, const Kernel& kernel, const KernelGeometry& geometry, double flops,
                      const DeviceTraits& device, std::int64_t batch);
// What a kernel of a real transform does of what the kernel of complex arrays does: `moved` of their bytes (a kernel
// along x computes with complex lines whose ends are real or half spectra), `lines` of their lines; the size of a value
// in the arrays that it reads and writes, real ones have half, so that runs are as much shorter.
struct RealWork {
  double moved = 1, lines = 1, read = 1, write = 1;
};
// The same with given coefficients, for fitting them.
double kernel_seconds(const FftPlan& plan, const Kernel& kernel, const KernelGeometry& geometry, double flops,
                      const DeviceTraits& device, std::int64_t batch, const FftCosts& costs, RealWork part = {});
double plan_seconds(const FftPlan& plan, const DeviceTraits& device, std::int64_t batch = 1);
double plan_seconds(const FftPlan& plan, const DeviceTraits& device, std::int64_t batch, const FftCosts& costs);

}  // namespace fourtune::generator::fft
