// Floors and estimates of uniform transforms on GPUs. fft/plan_cost.h has those of kernels; the library's are guessed
// from the data that it must move.
#include <algorithm>
#include <cmath>
#include <vector>

#include "base/layout.h"
#include "generator/codegen/fft/any_length/any_size.h"
#include "generator/codegen/fft/any_length/convolved.h"
#include "generator/planner/gpu_fft/plan_cost.h"
#include "generator/planner/gpu_fft/planner.h"
#include "generator/planner/gpu_fft/program.h"

namespace fourtune::generator {
namespace {

constexpr double longest_line = 8192;                             // that one kernel can transform
constexpr std::int64_t in_three_kernels = std::int64_t{1} << 19;  // the longest line that three kernels convolve

// Kernels for a line of n values if one holds at most `longest`.
double kernels_of_line(std::int64_t n, double longest) {
  if (n == 1) return 0;
  return std::max(1.0, std::ceil(std::log(static_cast<double>(n)) / std::log(longest) - 1e-9));
}

double array_bytes(const Problem& problem) {
  return 2.0 * static_cast<double>(real_bytes(problem.precision)) * static_cast<double>(mode_count(problem)) *
         static_cast<double>(problem.batch);
}

double share(const Problem& problem, const fft::FftCosts& costs) {
  return problem.fft_type == FftType::c2c ? 1 : costs.real;
}

// Seconds in which everything passes through memory once, there and back, at the speed of a copy (in the L2 cache, if
// it stays there).
double copy_seconds(const Problem& problem, const DeviceTraits& traits, const fft::FftCosts& costs) {
  const double bytes = share(problem, costs) * 2 * array_bytes(problem);
  const bool cached = (problem.place == Place::out ? bytes : bytes / 2) < 0.8 * static_cast<double>(traits.l2_bytes);
  return bytes / std::max(1.0, costs.copy * traits.memory_bandwidth * (cached ? costs.trips_cached : 1));
}

fft::EmitOptions line_options(const Problem& problem, const DeviceTraits& traits) {
  fft::EmitOptions options = emit_options(problem);
  options.device = traits;
  return options;
}

// Our convolutions, from traffic alone, except for 1.6 trips that arithmetic takes within a kernel (120 lengths on an
// H200 took 1.4 to 2.6 trips in all), as lengths grow by a factor of two to four; 0.6 for short lines (71 to 127 values
// on both devices 1.1 to 1.7 trips in all, one of eleven 2.1). Those along x of real transforms of
// odd length compute with complex lines, and long ones pass through memory as such; of even length (`halves`) with half
// of them, and where an r2c makes its half spectra apart, they pass once more.
double convolution_seconds(const Problem& problem, const DeviceTraits& traits, const fft::FftCosts& costs,
                           bool halves) {
  const fft::EmitOptions options = line_options(problem, traits);
  constexpr std::int64_t in_one_kernel = 4096, in_short_rounds = 128;
  double trips = 0, whole = 0;
  for (std::size_t d = 0; d < problem.n.size(); ++d) {
    const bool half = d == 0 && halves;
    const std::int64_t n = problem.n[d] / (half ? 2 : 1);
    const bool convolves = fft::is_convolved(options, static_cast<int>(d)), in_one = convolves && n <= in_one_kernel;
    (in_one && d == 0 && !half ? whole : trips) += kernels_of_line(n, longest_line);
    if (!convolves) continue;
    (half || d > 0 ? trips : whole) += in_one                  ? (n <= in_short_rounds ? 0.6 : 1.6)
                                       : n <= in_three_kernels ? 5
                                                               : costs.convolution_long;
    if (half && !in_one && problem.fft_type == FftType::r2c) trips += 1.25;
  }
  if (trips + whole == 0) trips = 1;  // of one value
  const double once = copy_seconds(problem, traits, costs) / costs.convolution_trip;
  return trips * once + whole * once / share(problem, costs) + (trips + whole) * costs.launch;
}

// The library, from what cuFFT took (docs/measurements): a kernel for each dimension, two for prime factors from 11 to
// 127, which it transforms directly, and more for a line that a block does not hold or that it convolves.
double library_seconds(const Problem& problem, const DeviceTraits& traits, const fft::FftCosts& costs) {
  constexpr std::int64_t fast_primes = 7, convolved = 128;
  const double filled_bytes = 0.865 * static_cast<double>(traits.shared_per_block);
  const bool single = problem.precision == Precision::f32;
  const double longest = single ? 8192 : 4096, longest_strided = single ? 1024 : 512;
  const double copy = copy_seconds(problem, traits, costs) / costs.library_trip;
  const double values = share(problem, costs) * static_cast<double>(mode_count(problem) * problem.batch);
  double kernels = 0, seconds = 0;
  for (const std::int64_t n : problem.n) {
    if (n == 1) continue;
    const std::vector<std::int64_t> primes = prime_factors(n);
    const bool convolves = primes.back() > convolved, splits = primes.back() > fast_primes && primes.back() != n;
    // Up to three times as many values along x fill a block, which then takes 1.2 to 2 copies (9000 to 16384 in f32 on
    // an H200; on an H100 12500 in f64 1.3 and 19683 in f32 1.3, and 25200 in f32 4).
    const auto values_along = static_cast<double>(n);
    const bool filled =
        kernels == 0 && !convolves && values_along > longest && values_along * (single ? 8 : 16) <= filled_bytes;
    const bool one = filled || values_along <= (kernels == 0 || convolves ? longest : longest_strided);
    const double trips = one ? 1 : kernels_of_line(n, longest_strided);
    double work = 0;  // operations per value
    for (const std::int64_t prime : primes) {
      const auto p = static_cast<double>(prime);
      // Its kernels for smaller primes do fewer of these (f64 lines on an H100: 37 values 4 p, 43 4.7 p, 59 6.6 p).
      if (!convolves) work += prime > fast_primes ? 8 * p * std::min(1.0, p / 73) : 5 * std::log2(p);
    }
    // Real lines of even length it convolves as complex ones of half the length.
    const bool real = kernels == 0 && problem.fft_type != FftType::c2c, halves = real && n % 2 == 0;
    // Those that a thread may hold pass at the speed of others (17 and 25 values: 1.1 copies, 41 values: 4).
    constexpr std::int64_t held = 32;
    // Real lines of 65536 values in f32 took 2.3 trips of 128, and as many as complex ones of 119.
    constexpr std::int64_t real_in_two_trips = 65536;
    const double lines = !real || n <= held  ? 1
                         : !halves           ? costs.library_odd
                         : primes.back() > 2 ? costs.library_even
                                             : 1;
    const bool long_convolution = n > in_three_kernels || (halves && !one);
    // It convolves by a padded line, of a power of two (f64 1499 values 3.3 copies, 2339 values 15).
    const double padded = one && 2 * values_along / (halves ? 2 : 1) > longest ? costs.library_padded : 1;
    const double convolution = padded * costs.library_convolution *
                               (long_convolution ? costs.library_longest
                                : halves         ? costs.library_halves
                                                 : 1);
    const double slower = convolves           ? convolution
                          : filled            ? costs.library_filled
                          : primes.back() > 2 ? one || kernels > 0 ? costs.library_mixed : costs.library_long_mixed
                          : one || kernels > 0 || (real && n <= real_in_two_trips)
                              ? 1  // strided lines of two kernels take two trips: 2048 to 8192 in 2D
                              : costs.library_long;
    // A block that a line fills takes twice as long as others where there are few of them (16384 x 2: 11.7 us).
    seconds += std::max({trips * slower * (convolves ? 1 : lines) * copy, filled ? 2 * costs.library_launch : 0,
                         work * values / (costs.library_work * fft::peak_flops(traits, problem.precision))});
    kernels += trips * (convolves ? 3 : splits ? 2 : 1);
  }
  // It writes into what a c2r reads, so that an input that has to stay is copied.
  if (problem.fft_type == FftType::c2r && problem.place == Place::out) seconds += costs.library_trip * copy, ++kernels;
  return std::max(copy, seconds) + std::max(1.0, kernels) * costs.library_launch;
}

// Real lines as complex ones of half the length (fft::takes_half_lines), whose kernels find or leave the half spectrum:
// the first of several of a c2r reads its values twice, half of the times from the cache.
double half_lines_seconds(const fft::FftPlan& plan, const Problem& problem, const DeviceTraits& traits,
                          const fft::FftCosts& costs) {
  double out = 0;
  const int kernels = static_cast<int>(plan.kernels.size());
  for (int k = 0; k < kernels; ++k) {
    const fft::RealWork part{k == 0 && kernels > 1 && problem.fft_type == FftType::c2r ? 1.25 : 1, 1};
    out += fft::kernel_seconds(plan, plan.kernels[static_cast<std::size_t>(k)], fft::geometry(plan, k),
                               fft::kernel_flops(plan, k), traits, problem.batch, costs, part);
  }
  // The kernels of an r2c that is made apart took 0.72 to 0.89 of what they would one by one: each finds a part of what
  // the one before it wrote in the cache.
  if (problem.fft_type == FftType::r2c && kernels > 1)
    out = 0.88 * (out + 1.25 * copy_seconds(problem, traits, costs) + costs.launch);
  return out;
}

// Kernels along x hold complex lines, whose ends alone are real or half spectra in memory; those along the other
// dimensions have half of the lines, but all of them before the first along x of an r2c.
double real_plan_seconds(const fft::FftPlan& plan, const Problem& problem, const DeviceTraits& traits,
                         const fft::FftCosts& costs) {
  const auto along_x = [](const fft::Kernel& kernel) {
    return std::any_of(kernel.subs.begin(), kernel.subs.end(),
                       [](const fft::SubFft& sub) { return sub.dim == fft::Dim::x; });
  };
  const auto all_x = std::count_if(plan.kernels.begin(), plan.kernels.end(), along_x);
  double out = 0;
  std::ptrdiff_t seen = 0;
  for (int k = 0; k < static_cast<int>(plan.kernels.size()); ++k) {
    const fft::Kernel& kernel = plan.kernels[static_cast<std::size_t>(k)];
    const bool x = along_x(kernel);
    if (x) ++seen;
    const bool to_real = problem.fft_type == FftType::c2r;
    const bool loads_half = to_real ? x && seen == 1 : k == 0, stores_half = x && seen == all_x;
    const fft::RealWork part{1 - (loads_half ? 0.25 : 0) - (stores_half ? 0.25 : 0),
                             !x && (to_real || seen > 0) ? costs.real : 1, !to_real && k == 0 ? 0.5 : 1,
                             to_real && k + 1 == static_cast<int>(plan.kernels.size()) ? 0.5 : 1};
    out += fft::kernel_seconds(plan, kernel, fft::geometry(plan, k), fft::kernel_flops(plan, k), traits, problem.batch,
                               costs, part);
  }
  return out;
}

// The plain plan in the notation; empty if it cannot be written in it (a length that is convolved).
fft::FftPlan plain_notation(const Problem& problem, const DeviceTraits& traits) {
  if (fft::convolves(line_options(problem, traits))) return {};
  try {
    fft::EmitOptions options = notation_options(problem);
    options.device = traits;
    return fft::plain_plan(options);
  } catch (const Error&) {
    return {};
  }
}

bool takes_half_lines(const Problem& problem, const DeviceTraits& traits) {
  return fft::takes_half_lines(line_options(problem, traits));
}
// The complex lines of half the length in the notation; empty if they, or another dimension, are convolved.
fft::FftPlan half_notation(const Problem& problem, const DeviceTraits& traits) {
  const fft::EmitOptions options = line_options(problem, traits);
  if (fft::convolves(options)) return {};
  return *fft::half_line_plan(options);
}

}  // namespace

Cost gpu_fft_estimate(const Plan& plan, const Problem& problem, const DeviceTraits& traits) {
  return gpu_fft_estimate(plan, problem, traits, fft::fft_costs(traits));
}

Cost gpu_fft_estimate(const Plan& plan, const Problem& problem, const DeviceTraits& traits,
                      const fft::FftCosts& costs) {
  Cost cost;
  fft::FftPlan notation;
  const GpuFftChoice& choice = plan.gpu().fft;
  const bool plain = choice.family == GpuFftFamily::plain, halves = plain && takes_half_lines(problem, traits);
  if (choice.family == GpuFftFamily::interleaved) notation = choice.plan;
  if (plain) notation = halves ? half_notation(problem, traits) : plain_notation(problem, traits);
  if (notation.kernels.empty()) {
    cost.execute = choice.family == GpuFftFamily::cufft ? library_seconds(problem, traits, costs)
                                                        : convolution_seconds(problem, traits, costs, halves);
    cost.bytes = array_bytes(problem);
  } else if (halves) {
    cost.execute = half_lines_seconds(notation, problem, traits, costs);
    cost.bytes = notation.kernels.size() > 1 ? array_bytes(problem) / 2 : 0;
  } else {
    cost.execute = problem.fft_type == FftType::c2c ? fft::plan_seconds(notation, traits, problem.batch, costs)
                                                    : real_plan_seconds(notation, problem, traits, costs);
    cost.bytes = fft::uses_workspace(notation) ? array_bytes(problem) : 0;
  }
  return cost;
}

double gpu_fft_floor_seconds(const Plan& plan, const Problem& problem, const DeviceTraits& traits) {
  // Nothing is known about the library: it might move everything once.
  if (plan.gpu().fft.family != GpuFftFamily::interleaved || problem.fft_type != FftType::c2c) return 0;
  return fft::floors(plan.gpu().fft.plan, traits, problem.batch).total;
}

}  // namespace fourtune::generator
