// The expected cost of a nonuniform plan on a GPU. Prices are picoseconds measured on an H200
// (docs/design/gpu-nufft.md), scaled by multiprocessors, clock and bandwidth; only their ratios matter for a choice.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "generator/plan/type3_geometry.h"
#include "generator/planner/gpu_nufft/choices.h"
#include "generator/planner/gpu_nufft/gridding.h"
#include "generator/planner/gpu_nufft/planner.h"
#include "generator/planner/reference_rates.h"

namespace fourtune::generator {
namespace {

using gpu_nufft::Gridding;
using gpu_nufft::interpolate_seconds;
using gpu_nufft::spread_seconds;

constexpr double kLaunch = 3e-6;                         // seconds
constexpr double kFftShare = 0.7;                        // share of the bandwidth that FFT kernels reach
constexpr double kOtherRadices = 1.2;                    // factor for lengths that are not powers of two
constexpr double kMostLine = 8192, kMostStrided = 1024;  // longest lines along x, and others, of one FFT kernel

// Speed of this device relative to the measured one: by its traits, and by its rates where it is calibrated.
struct Speed {
  double compute = 1, bandwidth = reference_gpu_bandwidth, launch = kLaunch;
  explicit Speed(const DeviceTraits& traits) {
    const DeviceRates &here = traits.rates, &there = reference_gpu;
    const double clocks = traits.multiprocessors * traits.clock_hz;
    if (clocks > 0) {
      compute = clocks / reference_gpu_clocks;
      // What it computes in a clock, at the clocks that it keeps under load.
      compute /= times_slower(here.flops32 / clocks, there.flops32 / reference_gpu_clocks);
    }
    if (traits.memory_bandwidth > 0) {
      bandwidth = traits.memory_bandwidth;
      bandwidth /= times_slower(here.copy_far / bandwidth, there.copy_far / reference_gpu_bandwidth);
    }
    launch *= times_slower(there.launch, here.launch);
  }
};

double sort_seconds(const Gridding& g, const nufft::Parameters& with) {
  if (with.order == nufft::RecordOrder::caller) return 10e-6 + g.points * 15e-12;
  const double point = g.dim == 1 ? 60 : with.order == nufft::RecordOrder::slide ? 105 : 76;
  return 40e-6 + g.points * point * 1e-12 * (g.f32() ? 1 : 1.5);
}

struct Fft {
  double bytes = 0, launches = 0, factor = 1;
};
// Bytes that pass through memory between the modes and a grid of which only `held` cells are needed.
Fft fft_of(const GpuFftChoice& choice, int dim, const std::array<double, 3>& modes, const std::array<double, 3>& fine,
           const std::array<double, 3>& held, double complex_bytes) {
  Fft out;
  out.launches = dim;
  for (int d = 0; d < dim; ++d) {
    const auto n = static_cast<std::int64_t>(fine[static_cast<std::size_t>(d)]);
    if ((n & (n - 1)) != 0) out.factor = kOtherRadices;
  }
  const double cells = fine[0] * fine[1] * fine[2], kept = modes[0] * modes[1] * modes[2];
  if (choice.family == GpuFftFamily::cufft) {
    out.bytes = (2.0 * dim + 1) * cells + kept;
    out.launches = dim + 1;
  } else {
    double size = kept;
    for (std::size_t d = 0; d < static_cast<std::size_t>(dim); ++d) {
      out.bytes += size;
      size *= held[d] / modes[d];
      out.bytes += size;
    }
    if (choice.family == GpuFftFamily::interleaved) {
      const double kernels = static_cast<double>(choice.plan.kernels.size());
      out.bytes *= kernels / dim, out.launches = kernels;
      out.factor *= 0.9;
    }
  }
  out.bytes *= complex_bytes;
  return out;
}

double product(const std::array<double, 3>& sizes) { return sizes[0] * sizes[1] * sizes[2]; }

struct Parts {
  Gridding spread, interp;  // type 3: spread is for the sources, interp for the targets
  Fft fft;
  double grids = 0;  // bytes per transform
};

Parts parts_of(const Plan& plan, const Problem& problem, const DeviceTraits& traits) {
  Parts out;
  std::array<double, 3> modes{1, 1, 1}, fine{1, 1, 1}, held{1, 1, 1};
  const int dim = problem.dim;
  if (problem.type == 3) {
    const std::array<double, 3> extent = type3_extent(problem);
    const double k = static_cast<double>(problem.k.value_or(problem.m.value_or(1000000)));
    const bool gaussian = plan.type3 == Type3Rule::gaussian;
    const double sigma = gaussian ? plan.gaussian_r : plan.window.sigma;
    for (std::size_t d = 0; d < static_cast<std::size_t>(dim); ++d) {
      modes[d] = std::ceil(2 * sigma * extent[d] / std::numbers::pi + plan.window.width + 2);
      fine[d] = std::ceil((gaussian ? sigma : plan.inner.sigma) * modes[d]);
      held[d] = gaussian ? fine[d] : std::min(fine[d], std::ceil(fine[d] / sigma) + plan.inner.width + 2);
    }
    out.spread = {dim, plan.window.width, problem.precision, modes, static_cast<double>(problem.m.value_or(1000000))};
    out.interp = {dim, plan.inner.width, problem.precision, held, k};
  } else {
    for (std::size_t d = 0; d < static_cast<std::size_t>(dim); ++d)
      modes[d] = static_cast<double>(problem.n[d]), fine[d] = held[d] = static_cast<double>(plan.window.fine[d]);
    const double m = problem.m ? static_cast<double>(*problem.m) : product(fine);
    out.spread =
        out.interp = {dim, plan.window.width, problem.precision, fine, m, gpu_nufft::share_of(problem.points, dim)};
  }
  out.spread.l2_bytes = out.interp.l2_bytes = traits.l2_bytes;
  out.spread.together = out.interp.together =
      static_cast<double>(std::clamp<std::int64_t>(plan.chunk, 1, problem.batch));
  out.fft = fft_of(plan.gpu().fft, dim, modes, fine, held, out.spread.complex_bytes());
  // In one dimension, between the grids of a type 3, and where a line takes two kernels, the FFT needs a workspace.
  const bool long_lines = fine[0] > kMostLine || fine[1] > kMostStrided || fine[2] > kMostStrided;
  const double copies = problem.type == 3 ? 1.5 : dim == 1 ? 2 : long_lines ? 1 + modes[0] / fine[0] : 1;
  out.grids = (product(held) * copies + (problem.type == 3 ? product(modes) : 0)) * out.spread.complex_bytes();
  return out;
}

}  // namespace

Cost gpu_nufft_estimate(const Plan& plan, const Problem& problem, const DeviceTraits& traits) {
  const Speed speed(traits);
  const Parts parts = parts_of(plan, problem, traits);
  const GpuPointsChoice& points = plan.gpu().points;
  const double batch = static_cast<double>(problem.batch);
  const double chunk = static_cast<double>(std::clamp<std::int64_t>(plan.chunk, 1, problem.batch));
  const double clear = parts.spread.cells() * parts.spread.complex_bytes() / (0.85 * speed.bandwidth);
  const double fft = parts.fft.bytes * parts.fft.factor / (kFftShare * speed.bandwidth);
  double one = fft, launches = parts.fft.launches + 1;
  const bool to_grid = problem.type != 2, from_grid = problem.type != 1;
  if (to_grid)
    one += clear + spread_seconds(parts.spread, points.spread, points.spread_with) / speed.compute, ++launches;
  if (from_grid) one += interpolate_seconds(parts.interp, points.interp, points.interp_with) / speed.compute;
  if (problem.type == 3)  // phase factors and deconvolution of the values
    one += (parts.spread.points + parts.interp.points) * 3 * parts.spread.complex_bytes() / (0.8 * speed.bandwidth);
  Cost cost;
  cost.execute = batch * one + launches * speed.launch * std::ceil(batch / chunk);
  if (to_grid) cost.set_points += sort_seconds(parts.spread, points.spread_with);
  if (problem.type != 1) cost.set_points += sort_seconds(parts.interp, points.interp_with);
  const double record = problem.precision == Precision::f32 ? 24 : 40;
  cost.bytes = parts.grids * chunk + (to_grid ? parts.spread.points * record : 0) +
               (from_grid ? parts.interp.points * record : 0);
  return cost;
}

double gpu_nufft_floor_seconds(const Plan& plan, const Problem& problem, const DeviceTraits& traits) {
  const Speed speed(traits);
  const Parts parts = parts_of(plan, problem, traits);
  const double batch = static_cast<double>(problem.batch);
  // Multiply-adds at a rate of 128 (f64: 64) per clock and multiprocessor.
  const double rate = reference_gpu_clocks * speed.compute * (problem.precision == Precision::f32 ? 128 : 64);
  const auto side = [&](const Gridding& g) {
    const double flops = 2 * g.stencil() * g.points / rate;
    const double bytes = (g.points * 1.5 * g.complex_bytes()) / speed.bandwidth;
    return std::max(flops, bytes);
  };
  double one = 0;
  if (problem.type != 2) one += side(parts.spread);
  if (problem.type != 1) one += side(parts.interp);
  return batch * one;
}

}  // namespace fourtune::generator
