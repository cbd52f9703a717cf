// The expected cost of a nonuniform plan on a GPU: prices of an H100 (prices.cpp), scaled by multiprocessors, clock and
// bandwidth.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "generator/plan/type3_geometry.h"
#include "generator/planner/gpu_nufft/choices.h"
#include "generator/planner/gpu_nufft/gridding.h"
#include "generator/planner/gpu_nufft/planner.h"
#include "generator/planner/reference_rates.h"
#include "generator/window/fft_size.h"

namespace fourtune::generator {
namespace {

using namespace gpu_nufft;

constexpr double kMostLine = 8192, kMostStrided = 1024;  // longest lines along x, and others, of one FFT kernel

// How much faster this device is than the one of the prices, by its traits, and by its rates where it is calibrated.
Speeds speeds_of(const DeviceTraits& traits) {
  const DeviceRates &here = traits.rates, &there = h100_rates;
  double compute = 1, clock = 1, bandwidth = 1;
  const double clocks = traits.multiprocessors * traits.clock_hz;
  if (clocks > 0) {
    // What it computes in a clock, at the clocks that it keeps under load.
    compute = clocks / reference_gpu_clocks;
    compute /= times_slower(here.flops32 / clocks, there.flops32 / reference_gpu_clocks);
    clock = traits.clock_hz / h200::clock_hz;
  }
  if (traits.memory_bandwidth > 0) {
    bandwidth = traits.memory_bandwidth / h100::memory_bandwidth;
    bandwidth /= times_slower(here.copy_far / traits.memory_bandwidth, there.copy_far / h100::memory_bandwidth);
  }
  Speeds out;
  out.fill(compute);
  const auto set = [&](std::initializer_list<Count> counts, double speed) {
    for (const Count count : counts) out[static_cast<std::size_t>(count)] = speed;
  };
  set({Count::launch}, 1 / times_slower(here.launch, there.launch));
  set({Count::chain, Count::chain_cell, Count::single}, clock);
  set({Count::moved_far, Count::odd_far, Count::alone_far, Count::again}, bandwidth);
  return out;
}

double sort_seconds(const Gridding& g, const nufft::Parameters& with) {
  if (with.order == nufft::RecordOrder::caller) return 10e-6 + g.points * 15e-12;
  const double point = g.dim == 1 ? 60 : with.order == nufft::RecordOrder::slide ? 105 : 76;
  return 40e-6 + g.points * point * 1e-12 * (g.f32() ? 1 : 1.5);
}

// Bytes that pass through memory, for `together` transforms, between the modes and a grid of which only `held` cells
// are needed.
Work fft_work(const GpuFftChoice& choice, const Gridding& g, const std::array<double, 3>& modes,
              const std::array<double, 3>& fine, const std::array<double, 3>& held) {
  Work out;
  const bool library = choice.family == GpuFftFamily::cufft;
  out.kind = {library ? Stage::library : Stage::fft, 0, g.dim, false, g.precision};
  const auto set = [&](Count count, double value) { out.counts[static_cast<std::size_t>(count)] = value; };
  const double cells = fine[0] * fine[1] * fine[2], kept = modes[0] * modes[1] * modes[2];
  double size = kept, numbers = 0, steps = 0, kernels = g.dim;
  bool powers = true;
  for (std::size_t d = 0; d < static_cast<std::size_t>(g.dim); ++d) {
    numbers += size;
    size *= held[d] / modes[d];
    numbers += size;
    const auto n = static_cast<std::int64_t>(fine[d]);
    powers = powers && (n & (n - 1)) == 0;
    steps += std::log2(std::max(2.0, fine[d]));
  }
  if (library) numbers = (2.0 * g.dim + 1) * cells + kept;
  if (choice.family == GpuFftFamily::interleaved) {
    kernels = static_cast<double>(choice.plan.kernels.size());
    numbers *= kernels / g.dim;
  }
  const double one = g.complex_bytes() * g.together;
  const bool far = cells * one > g.cache();
  set(powers ? (far ? Count::moved_far : Count::moved) : far ? Count::odd_far : Count::odd, numbers * one);
  set(Count::launch, kernels), set(Count::single, steps);
  const int split = (fine[0] > kMostLine) + (fine[1] > kMostStrided) + (fine[2] > kMostStrided);
  set(Count::lines, numbers / g.dim * split * one), set(Count::task, split);
  return out;
}

double product(const std::array<double, 3>& sizes) { return sizes[0] * sizes[1] * sizes[2]; }

struct Parts {
  Gridding spread, interp;  // type 3: spread is for the sources, interp for the targets
  std::array<double, 3> modes{1, 1, 1}, fine{1, 1, 1}, held{1, 1, 1};
  double grids = 0;  // bytes per transform
};

Parts parts_of(const Plan& plan, const Problem& problem, const DeviceTraits& traits) {
  Parts out;
  auto &modes = out.modes, &fine = out.fine, &held = out.held;
  const int dim = problem.dim;
  if (problem.type == 3) {
    const std::array<double, 3> extent = type3_extent(problem);
    const double k = static_cast<double>(problem.k.value_or(problem.m.value_or(1000000)));
    const bool gaussian = plan.type3 == Type3Rule::gaussian;
    const double sigma = gaussian ? plan.gaussian_r : plan.window.sigma;
    for (std::size_t d = 0; d < static_cast<std::size_t>(dim); ++d) {
      modes[d] = std::ceil(2 * sigma * extent[d] / std::numbers::pi + plan.window.width + 2);
      fine[d] = std::ceil((gaussian ? sigma : plan.inner.sigma) * modes[d]);
      if (fine[d] < 1e15) fine[d] = static_cast<double>(smooth_size(static_cast<std::int64_t>(fine[d])));
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
  // In one dimension, between the grids of a type 3, and where a line takes two kernels, the FFT needs a workspace.
  const bool long_lines = fine[0] > kMostLine || fine[1] > kMostStrided || fine[2] > kMostStrided;
  const double copies = problem.type == 3 ? 1.5 : dim == 1 ? 2 : long_lines ? 1 + modes[0] / fine[0] : 1;
  out.grids = (product(held) * copies + (problem.type == 3 ? product(modes) : 0)) * out.spread.complex_bytes();
  return out;
}

}  // namespace

std::vector<TimedWork> gpu_nufft_work(const Plan& plan, const Problem& problem, const DeviceTraits& traits) {
  Parts parts = parts_of(plan, problem, traits);
  const GpuPointsChoice& points = plan.gpu().points;
  const std::int64_t chunk = std::clamp<std::int64_t>(plan.chunk, 1, problem.batch), rest = problem.batch % chunk;
  std::vector<TimedWork> out;
  // All chunks but the last are full.
  for (const auto& [together, times] : {std::pair{chunk, problem.batch / chunk}, {rest, std::int64_t{rest > 0}}}) {
    if (times == 0) continue;
    const auto add = [&, times = static_cast<double>(times)](const Work& work) { out.push_back({work, times}); };
    parts.spread.together = parts.interp.together = static_cast<double>(together);
    const auto passes = [&](Stage stage, const Gridding& g, double bytes, bool far) {
      Work work{{stage, 0, 1, false, g.precision}, {}};
      work.counts[static_cast<std::size_t>(Count::launch)] = 1;
      work.counts[static_cast<std::size_t>(far ? Count::moved_far : Count::moved)] = bytes * g.together;
      add(work);
    };
    if (problem.type != 2) {
      const double bytes = parts.spread.cells() * parts.spread.complex_bytes();
      passes(Stage::clear, parts.spread, bytes, bytes * parts.spread.together > parts.spread.cache());
      add(spread_work(parts.spread, points.spread, points.spread_with));
    }
    if (problem.type != 1) add(interpolate_work(parts.interp, points.interp, points.interp_with));
    add(fft_work(plan.gpu().fft, parts.spread, parts.modes, parts.fine, parts.held));
    if (problem.type == 3)  // phase factors and deconvolution of the values
      passes(Stage::values, parts.spread, (parts.spread.points + parts.interp.points) * parts.spread.complex_bytes(),
             false);
  }
  return out;
}

Cost gpu_nufft_estimate(const Plan& plan, const Problem& problem, const DeviceTraits& traits) {
  const Parts parts = parts_of(plan, problem, traits);
  const GpuPointsChoice& points = plan.gpu().points;
  const bool to_grid = problem.type != 2, from_grid = problem.type != 1;
  const Speeds speeds = speeds_of(traits);
  Cost cost;
  for (const TimedWork& one : gpu_nufft_work(plan, problem, traits))
    cost.execute += one.times * seconds_of(one.work, speeds);
  if (to_grid) cost.set_points += sort_seconds(parts.spread, points.spread_with);
  if (problem.type != 1) cost.set_points += sort_seconds(parts.interp, points.interp_with);
  const double chunk = static_cast<double>(std::clamp<std::int64_t>(plan.chunk, 1, problem.batch));
  const double record = problem.precision == Precision::f32 ? 24 : 40;
  cost.bytes = parts.grids * chunk + (to_grid ? parts.spread.points * record : 0) +
               (from_grid ? parts.interp.points * record : 0);
  return cost;
}

double gpu_nufft_floor_seconds(const Plan& plan, const Problem& problem, const DeviceTraits& traits) {
  const Speeds speeds = speeds_of(traits);
  const double bandwidth = h100::memory_bandwidth * speeds[static_cast<std::size_t>(Count::moved_far)];
  const Parts parts = parts_of(plan, problem, traits);
  const double batch = static_cast<double>(problem.batch);
  // Multiply-adds at a rate of 128 (f64: 64) per clock and multiprocessor.
  const double rate = reference_gpu_clocks * speeds[static_cast<std::size_t>(Count::point)] *
                      (problem.precision == Precision::f32 ? 128 : 64);
  const auto side = [&](const Gridding& g) {
    const double flops = 2 * g.stencil() * g.points / rate;
    const double bytes = (g.points * 1.5 * g.complex_bytes()) / bandwidth;
    return std::max(flops, bytes);
  };
  double one = 0;
  if (problem.type != 2) one += side(parts.spread);
  if (problem.type != 1) one += side(parts.interp);
  return batch * one;
}

}  // namespace fourtune::generator
