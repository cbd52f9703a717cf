// The expected cost of a nonuniform plan on a GPU. Prices are picoseconds measured on an H200
// (docs/design/gpu-nufft.md), scaled by multiprocessors, clock and bandwidth; only their ratios matter for a choice.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "generator/codegen/nufft/kernels.h"
#include "generator/plan/type3_geometry.h"
#include "generator/planner/gpu_nufft/choices.h"
#include "generator/planner/gpu_nufft/planner.h"
#include "generator/planner/reference_rates.h"

namespace fourtune::generator {
namespace {

using nufft::Interpolate;
using nufft::Spread;

constexpr double kLaunch = 3e-6;                         // seconds
constexpr double kFftShare = 0.7;                        // share of the bandwidth that FFT kernels reach
constexpr double kOtherRadices = 1.2;                    // factor for lengths that are not powers of two
constexpr double kCache = 48e6;                          // largest grid in bytes that stays in the L2 cache of an H200
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

// One spreading or interpolation kernel.
struct Gridding {
  int dim = 3, width = 6;
  Precision precision = Precision::f32;
  std::array<double, 3> fine{1, 1, 1};
  double points = 0;
  double share = 1;  // share of the grid that has points
  std::int64_t l2_bytes = h200::l2_bytes;
  double cells() const { return fine[0] * fine[1] * fine[2]; }
  double stencil() const { return std::pow(width, dim); }
  double complex_bytes() const { return 2.0 * static_cast<double>(real_bytes(precision)); }
  bool f32() const { return precision == Precision::f32; }
  double cache() const { return nufft::cached(kCache, l2_bytes); }  // bytes of the largest grid that stays in it
  nufft::Shape shape() const {
    nufft::Shape out;
    out.dim = dim, out.precision = precision, out.width = width, out.l2_bytes = l2_bytes;
    for (std::size_t d = 0; d < 3; ++d) out.fine[d] = static_cast<std::int64_t>(fine[d]);
    return out;
  }
};

// Share of the bins that contain a point.
double occupied(const Gridding& g, double cells_of_bin) {
  return 1 - std::exp(-g.points * cells_of_bin / std::max(1.0, g.cells()));
}

// Register windows: a cost per point, and a cost per finished plane of a tile.
double window_seconds(const Gridding& g, const nufft::Parameters& with, double fixed, double step, double plane_rate) {
  double tile = with.bin[0] + g.width - 1, bin = with.bin[0];
  if (g.dim == 3) tile *= with.bin[1] + g.width - 1, bin *= with.bin[1];
  const double lanes = 32.0 * with.warps, planes = g.dim == 1 ? 1 : g.width;
  const double point = fixed + step * std::ceil(tile / lanes) * planes * with.warps;
  // A window also finishes the planes between its points, but it restarts after long gaps.
  const double moved = g.cells() * tile / bin * occupied(g, bin * planes) / (with.run == 2 ? 1.4 : 1);
  const double a = g.points * point * 1e-12, b = moved / plane_rate;
  return std::max(a, b) + 0.3 * std::min(a, b);
}

// Matrix units in single precision: a price for each product, which takes up to `at_once` points that begin within 9 -
// w planes of a column, and one for each finished plane of a tile. The prices are counted instructions.
double products_seconds(const Gridding& g, const nufft::Parameters& with, double at_once, double plane_rate) {
  constexpr double kProduct = 45;  // picoseconds, by the points that it may take
  const double tile = 64, bin = 1.0 * with.bin[0] * with.bin[1], planes = std::max(1, 9 - g.width);
  const double together = std::max(1.0, g.points / (g.cells() * g.share) * bin * planes);
  const double point = kProduct * at_once * std::min(1.0, 1 / at_once + 0.5 / together);
  const double moved = g.cells() * g.share * tile / bin * occupied(g, bin * g.width / g.share);
  const double a = g.points * point * 1e-12, b = moved / plane_rate;
  return std::max(a, b) + 0.3 * std::min(a, b);
}

// Padded cells of all tiles that contain a point.
double tile_cells(const Gridding& g, const nufft::Parameters& with) {
  double padded = 1, bin = 1;
  for (std::size_t d = 0; d < static_cast<std::size_t>(g.dim); ++d)
    padded *= with.bin[d] + g.width - 1, bin *= with.bin[d];
  return g.cells() * padded / bin * occupied(g, bin);
}

// Tiles that blocks load, each with its margin: from the cache, or from grids that do not fit it (16 transforms of 1.92
// million points on 180x270x270 and 256x384x384 cells, H200: 2.1 to 2.7 TB/s).
double load_seconds(const Gridding& g, const nufft::Parameters& with) {
  const bool cached = g.cells() * g.complex_bytes() * with.group <= g.cache();
  return tile_cells(g, with) * g.complex_bytes() / (cached ? 8e12 : 2.5e12);
}

// Several transforms at once: 128 bytes of shared memory per clock, a share of the weights, and the cells that leave a
// tile.
double group_spread_seconds(const Gridding& g, Spread family, const nufft::Parameters& with) {
  const double shared = g.complex_bytes() / reference_gpu_shared, weights = 20e-12 / with.group;
  const double near = g.cells() * g.complex_bytes() * with.group <= g.cache() ? 1 : 0.55;
  if (family == Spread::points)
    return g.points * (weights + 10e-12 + g.stencil() * g.complex_bytes() / 16 / (225e9 * near));
  return g.points * (weights + 8e-12 + 2.6 * g.stencil() * shared) +
         tile_cells(g, with) * g.complex_bytes() / (2e12 * near);
}
double group_interpolate_seconds(const Gridding& g, Interpolate family, const nufft::Parameters& with) {
  const double shared = g.complex_bytes() / reference_gpu_shared, weights = 20e-12 / with.group;
  if (family == Interpolate::points) return g.points * (weights + 6e-12 + 2.5 * g.stencil() * shared);
  return g.points * (weights + 4e-12 + 1.3 * g.stencil() * shared) + load_seconds(g, with);
}

double spread_seconds(const Gridding& g, Spread family, const nufft::Parameters& with) {
  if (with.group > 1) return group_spread_seconds(g, family, with);
  const bool f32 = g.f32();
  const double w = g.width, stencil = g.stencil();
  const double near =
      g.cells() * g.complex_bytes() <= g.cache() ? 1 : 0.55;  // reductions inside the cache, or beyond it
  switch (family) {
    case Spread::window:
      if (g.dim == 3) return nufft::window_spread_seconds(g.shape(), with, g.points, g.share);
      return window_seconds(g, with, 40, f32 ? 5 : 8, (f32 ? 60e9 : 30e9) * near);
    case Spread::tf32x3:
      return products_seconds(g, with, 8, 225e9 * near);
    case Spread::tile_owned: {
      const double point = g.dim == 3   ? (f32 ? 1.5 : 3.0) * stencil
                           : g.dim == 2 ? 20 + (f32 ? 2.0 : 3.0) * stencil
                                        : (f32 ? 14 : 20) + (f32 ? 2.5 : 7) * w;
      return (g.points * point + g.cells() * (f32 ? 6 : 12) * occupied(g, 64)) * 1e-12;
    }
    case Spread::tile_atomic:
    case Spread::sm:
      return (g.points * (f32 ? 6 : 8) * stencil + g.cells() * (f32 ? 6 : 12)) * 1e-12;
    case Spread::points:
    case Spread::gm:
    case Spread::gm_sort:
      break;
  }
  const double sorted = with.order == nufft::RecordOrder::caller ? (near < 1 ? 5 : 1.5) : 1;
  const double lanes = with.lanes == 1 ? 2 : 1;
  return g.points * (20e-12 + sorted * lanes * stencil / ((f32 ? 225e9 : 150e9) * near));
}

double interpolating_seconds(const Gridding& g, Interpolate family, const nufft::Parameters& with) {
  if (with.group > 1) return group_interpolate_seconds(g, family, with);
  const bool f32 = g.f32();
  const double stencil = g.stencil(), bytes = g.complex_bytes();
  switch (family) {
    case Interpolate::window:
      if (g.dim == 3) return nufft::window_interpolate_seconds(g.shape(), with, g.points);
      return window_seconds(g, with, 50, f32 ? 8 : 12, 100e9);
    case Interpolate::tf32x3:
      return products_seconds(g, with, 16, 400e9);
    case Interpolate::matrix: {
      double padded = 1, bin = 1;
      for (std::size_t d = 0; d < 2; ++d)
        padded *= std::ceil((with.bin[d] + g.width - 1) / 4.0) * 4, bin *= with.bin[d];
      const double planes = g.dim == 3 ? g.width : 1;
      const double batches = std::max(g.points, 16 * g.cells() / bin * occupied(g, bin * planes) / planes);
      return batches * (f32 ? 16 : 18) * 1e-12 + batches * (f32 ? 0.14e-12 : 0.12e-12) * padded * planes +
             g.cells() * padded / bin * occupied(g, bin * planes) * bytes / 6e12;
    }
    case Interpolate::tiled: {
      const double point = g.dim == 3   ? (f32 ? 25 + 0.65 * stencil : 35 + 1.2 * stencil)
                           : g.dim == 2 ? (f32 ? 12 + 0.78 * stencil : 25 + 1.1 * stencil)
                                        : (f32 ? 32 : 60);
      return g.points * point * 1e-12 + load_seconds(g, with);
    }
    case Interpolate::points:
    case Interpolate::gm:
    case Interpolate::gm_sort:
      break;
  }
  const double sorted = with.order == nufft::RecordOrder::caller && g.cells() * bytes > g.cache() ? 3 : 1;
  // Sparse points do not share the lines that they read. With many points, these lines are not in the cache, and every
  // slice reads the whole grid.
  const bool many = with.slice > 0 || g.points * bytes > g.cache() / 2;
  const double rows = std::pow(g.width, g.dim - 1);
  const double density = g.points / std::max(1.0, g.cells());
  const double alone = many && g.dim == 2 && f32 && density > 0.3 ? 0 : std::exp(-4 * density);
  const double again = with.slice > 0 ? g.cells() * bytes / (g.cells() * bytes <= g.cache() ? 8e12 : 3e12) : 0;
  const double point = g.dim == 3   ? (f32 ? 1.0 : 1.6) * stencil
                       : g.dim == 2 ? (f32 ? (many ? 28 + 0.3 * stencil : 14 + 0.45 * stencil) : 25 + 1.2 * stencil)
                                    : (f32 ? 27 : 50);
  return g.points * (sorted * point * 1e-12 + alone * rows * (g.width * bytes + 64) / 3e12) +
         again * std::ceil(g.points / std::max(1, with.slice));
}

// Values larger than the cache are written in random order, whatever the kernel does before.
double interpolate_seconds(const Gridding& g, Interpolate family, const nufft::Parameters& with) {
  const bool beyond = g.points * g.complex_bytes() > g.cache() && with.slice == 0;
  return std::max(interpolating_seconds(g, family, with), beyond ? g.points * (g.f32() ? 57e-12 : 63e-12) : 0.0);
}

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
