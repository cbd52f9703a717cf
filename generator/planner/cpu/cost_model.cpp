// The expected cost of a plan on a CPU. Counts (rows, cells, operations) are exact; the price of each is a constant
// below. The model orders candidates and picks the untuned default plan. Tests check its direction, not its times.
#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <span>
#include <vector>

#include "generator/plan/private_tile.h"
#include "generator/planner/cpu/fft_times.h"
#include "generator/planner/cpu/planner.h"
#include "generator/planner/cpu/slowness.h"

namespace fourtune::generator {
namespace {

// Prices in cycles, fitted to `fourtune run` stage times of 1D-3D problems in f32 and f64 on a Sapphire Rapids core at
// about 3 GHz with AVX-512 (docs/design/cpu-choices.md). Only their ratios matter for a choice.
constexpr double kClock = 3e9;
constexpr double kPoint = 6;         // locate, gather
constexpr double kPerDimension = 4;  // evaluate the window in one dimension
// One 64-byte line of one row. Spreading loads, multiplies, adds and stores it; interpolation only reads it.
constexpr double kSpreadLine32 = 1.5, kSpreadLine64 = 1.8, kInterpLine32 = 1.1, kInterpLine64 = 0.5;
constexpr double kBatchPoint = 4;  // per additional transform: gather and broadcast
// One 64-byte line of a private tile: adding it to the grid and clearing it, or copying it from the grid.
constexpr double kTileAddLine = 5, kTileCopyLine = 3;
constexpr double kOutOfFirst = 1.2;  // rows of a private tile that the first-level cache does not hold, in 2D
// Straight to or from the grid, rows are not aligned and points wait for each other. In a grid that the last-level
// cache holds (kDirectBytes), only the lines count that a row touches more, and some for its place in them, as
// where points are gridded (runtime/backends/cpu/gridder/engine.h).
constexpr double kDirectSpread = 1.6, kDirectInterp = 1.25, kDirectInSpace = 1.8, kDirectBytes = 32e6;
constexpr double kMoreLinesSpread = 0.2, kMoreLinesInterp = 0.3;
// Per 64-byte line of the fine grid, for a grid in the second-level cache, in the last-level one and for a larger one.
// Clearing, adding and every pass over a larger grid move its lines through memory.
constexpr double kCellLine = 1, kThirdCellLine = 15, kFarCellLine = 60;
constexpr double kFftPassLine = 3, kThirdFftPassLine = 8, kFarFftPassLine = 20;
constexpr double kNearBytes = 2e6;
constexpr double kFftFlop32 = 0.05, kFftFlop64 = 0.1;  // per operation of 5 n log2 n
constexpr double kSortPoint = 22;
// Unsorted points of one dimension: copied once, located by every thread of every chunk of transforms, and spread to a
// grid of at most kRawCaches second-level caches. Spreading costs kRawSpread more, and kRawSpreadLine per line where
// the first-level cache does not hold the grid (8192 modes, 79159 points, one transform: f64 13.3 and 10.2 ns per
// point, f32 8.5 and 6.2). Sorting takes 2 ns, and a chunk saves sorted points no evaluation.
constexpr double kCopyPoint = 1, kLocatePoint = 3, kRawSpread = 2.7, kRawSpreadLine = 2.5, kRawLines = 1.1;
constexpr double kRawBatchPoint = 0.5;  // values are read and written in order
constexpr double kRawCaches = 2, kRawNearBytes = 40e3;
constexpr double kLineBatchPoint = 6, kSortLinePoint = 8;
constexpr double kSharedByte = 0.135;  // of a second-level cache, which another thread wrote: 20 batches, two threads
constexpr double kAtomicCell = 20;     // compare-and-swap per real number

struct Counts {
  double rows = 1, lines = 1, cells = 1;
};

double lanes(const Problem& problem) { return 64.0 / (2.0 * static_cast<double>(real_bytes(problem.precision))); }

Counts counts_of(const WindowChoice& window, const Problem& problem, const std::array<double, 3>& fine) {
  Counts out;
  for (int d = 1; d < problem.dim; ++d) out.rows *= window.width;
  const auto complex_bytes = static_cast<int>(2 * real_bytes(problem.precision));
  out.lines = row_slots(window.width, complex_bytes) / lanes(problem);
  for (int d = 0; d < problem.dim; ++d) out.cells *= fine[d] + window.width - 1;  // with the halo
  return out;
}

// The largest private tile of a plan.
double tile_bytes(const Plan& plan, const Problem& problem) {
  std::array<int, 3> tile{1, 1, 1};
  for (int d = 0; d < problem.dim; ++d)
    tile[d] = static_cast<int>(std::min<std::int64_t>(plan.cpu().sort.tile[d], plan.window.fine[d]));
  const auto complex_bytes = static_cast<int>(2 * real_bytes(problem.precision));
  return static_cast<double>(private_elements(problem.dim, tile, plan.window.width, complex_bytes)) * complex_bytes;
}

// The private tiles of a grid in 64-byte lines, which cost more where a tile does not stay in the second-level cache.
double private_lines(const Plan& plan, const Problem& problem, std::int64_t l2_bytes) {
  std::array<int, 3> tile{1, 1, 1};
  double tiles = 1;
  for (int d = 0; d < problem.dim; ++d) {
    const std::int64_t fine = plan.window.fine[d];
    tile[d] = static_cast<int>(std::min<std::int64_t>(plan.cpu().sort.tile[d], fine));
    tiles *= static_cast<double>((fine + tile[d] - 1) / tile[d]);
  }
  const auto complex_bytes = static_cast<int>(2 * real_bytes(problem.precision));
  const auto elements = static_cast<double>(private_elements(problem.dim, tile, plan.window.width, complex_bytes));
  const double share = elements * complex_bytes / static_cast<double>(std::max<std::int64_t>(l2_bytes, 1 << 18));
  return tiles * elements / lanes(problem) * (share <= 1 ? 1 : share <= 2 ? 1.3 : 1.8);
}

// Whether points of one dimension stay unsorted and go straight to or from the grid.
bool is_raw(const Plan& plan, const Problem& problem, double cells) {
  const double bytes = cells * 64 / lanes(problem);
  const int threads = plan.cpu().threads;
  const bool own_grids =
      threads <= kFewThreads || bytes * (threads - 1) <= kPartialBytes;  // else they add with atomics
  return problem.dim == 1 && plan.cpu().sort.family == SortFamily::none && own_grids;
}

// The processor that a plan is for.
struct Processor {
  std::int64_t l1_bytes, l2_bytes, l3_bytes;
  Slowness slow;
};

// The price of a line of a grid by where the grid lies. Nothing measures the last-level cache: it is taken to be as
// much faster or slower than the reference's as the second level and memory are by the mean.
struct LinePrices {
  double near, third, far;
};
double line_price(double cells, const Problem& problem, const Processor& processor, const LinePrices& price) {
  const double bytes = cells * 64 / lanes(problem);
  const Slowness& slow = processor.slow;
  if (bytes <= kNearBytes) return price.near * slow.near;
  if (bytes <= std::min(kDirectBytes, static_cast<double>(processor.l3_bytes)))
    return price.third * std::sqrt(slow.second * slow.far);
  return price.far * slow.far;
}

// Cost of one transform between `points` points and the grid, including 1/batch of the window evaluation.
double gridding_cycles(const Counts& counts, const Problem& problem, double points, bool spreads, const Plan& plan,
                       const Processor& processor) {
  const Slowness& slow = processor.slow;
  const double share =
      1.0 / static_cast<double>(std::max<std::int64_t>(1, std::min<std::int64_t>(plan.chunk, problem.batch)));
  const bool f32 = problem.precision == Precision::f32, none = plan.cpu().sort.family == SortFamily::none;
  const double row_line = spreads ? (f32 ? kSpreadLine32 : kSpreadLine64) : (f32 ? kInterpLine32 : kInterpLine64);
  const bool line = problem.dim == 1;
  const double evaluate = (kPoint + kPerDimension * problem.dim) * (line ? 1 : share) * slow.arithmetic +
                          (line ? kLineBatchPoint : kBatchPoint) * slow.near;
  const double point = evaluate + counts.rows * counts.lines * row_line * slow.near;
  const SpreadFamily family = plan.cpu().spread.family;
  double direct = point * (problem.dim == 3 ? kDirectInSpace : spreads ? kDirectSpread : kDirectInterp);
  if (problem.dim > 1 && counts.cells * 64 / lanes(problem) <= kDirectBytes) {
    const double touched =
        1 + (plan.window.width - 1) / lanes(problem) + (spreads ? kMoreLinesSpread : kMoreLinesInterp);
    direct = evaluate + counts.rows * touched * row_line * slow.near;
  }
  const bool raw = is_raw(plan, problem, counts.cells);
  const double grid_bytes = counts.cells * 64 / lanes(problem);
  if (raw) {
    // Threads share the transforms of a chunk, so each of them locates and evaluates.
    const double each = std::min(1.0, share * plan.cpu().threads);
    direct = kRawBatchPoint * slow.near + (kPoint + kPerDimension + kLocatePoint) * each * slow.arithmetic +
             (counts.lines * kRawLines * row_line +
              (spreads ? kRawSpread + (grid_bytes > kRawNearBytes ? kRawSpreadLine * counts.lines : 0) : 0)) *
                 slow.near;
  }
  if (spreads && spreader_of(family).atomic && !raw)
    direct += counts.rows * 2 * plan.window.width * kAtomicCell * slow.scalar;
  // Unsorted points miss the cache unless it holds the whole grid. Interpolation asks for its cells ahead.
  const double held = kRawCaches * static_cast<double>(std::max<std::int64_t>(processor.l2_bytes, 1 << 18));
  const bool far = raw ? spreads && grid_bytes > held : counts.cells > 1e5;
  if (none && far) direct *= 3;
  // Tiles with few points go without a private copy.
  const bool tiled =
      !none && (spreads ? spreader_of(family).private_tiles : plan.cpu().interp.family == InterpFamily::tile);
  const double copies =
      private_lines(plan, problem, processor.l2_bytes) * (spreads ? kTileAddLine : kTileCopyLine) * slow.second;
  // In 3D no tile of use stays in the first-level cache, and points are in an order that suits it.
  const bool out_of_first =
      problem.dim == 2 && tile_bytes(plan, problem) > 1.1 * static_cast<double>(processor.l1_bytes);
  const double in_tile =
      evaluate + counts.rows * counts.lines * row_line * slow.near * (out_of_first ? kOutOfFirst : 1);
  const bool copied = tiled && points * in_tile + copies < points * direct;
  const double all = copied ? points * in_tile + copies : points * direct;
  // Threads that share each transform of a batch, instead of taking one each, take what is near of its grid from each
  // other, twice where they write it; but with private tiles in 3D, one grid at a time is as fast.
  const int threads = plan.cpu().threads;
  const bool shared = plan.chunk < std::min<std::int64_t>(threads, problem.batch) && !(copied && problem.dim == 3);
  const double near =
      shared ? std::min(grid_bytes, static_cast<double>(std::max<std::int64_t>(processor.l2_bytes, 1 << 18))) : 0;
  return all + (spreads ? 2 : 1) * kSharedByte * slow.far * near * threads +
         counts.cells / lanes(problem) *
             line_price(counts.cells, problem, processor, {kCellLine, kThirdCellLine, kFarCellLine});
}

// Passes of a pruned FFT: along each dimension, only the lines that are neither zero nor unwanted. One length for each
// dimension; further ones are 1.
double fft_cycles(const Problem& problem, std::span<const double> fine, std::span<const double> kept,
                  const Processor& processor) {
  const double flop = (problem.precision == Precision::f32 ? kFftFlop32 : kFftFlop64) * processor.slow.arithmetic;
  double cycles = 0, lines = std::accumulate(fine.begin(), fine.end(), 1.0, std::multiplies<>());
  const double pass = line_price(lines, problem, processor, {kFftPassLine, kThirdFftPassLine, kFarFftPassLine});
  for (std::size_t d = 0; d < static_cast<std::size_t>(problem.dim); ++d) {
    cycles += 5 * lines * std::log2(std::max(2.0, fine[d])) * flop + lines / lanes(problem) * pass;
    lines *= kept[d] / fine[d];
  }
  return cycles;
}

double points_of(const Problem& problem, const std::array<double, 3>& fine) {
  return static_cast<double>(
      problem.m.value_or(static_cast<std::int64_t>(std::min(1e15, fine[0] * fine[1] * fine[2]))));
}

Cost nufft_cost(const Plan& plan, const Problem& problem, double threads, const Processor& processor) {
  std::array<double, 3> fine{1, 1, 1}, kept{1, 1, 1};
  const double complex_bytes = 2.0 * static_cast<double>(real_bytes(problem.precision));
  const double batch = static_cast<double>(problem.batch);
  Cost cost;
  for (int d = 0; d < problem.dim; ++d) {
    fine[d] = static_cast<double>(plan.window.fine[d]);
    kept[d] = static_cast<double>(problem.n[d]);
  }
  const double m = points_of(problem, fine);
  const Counts counts = counts_of(plan.window, problem, fine);
  cost.execute = batch * (gridding_cycles(counts, problem, m, problem.type == 1, plan, processor) +
                          fft_cycles(problem, fine, kept, processor));
  const double sorts = problem.dim == 1 ? kSortLinePoint : kSortPoint;
  const double sort = is_raw(plan, problem, counts.cells)          ? kCopyPoint
                      : plan.cpu().sort.family == SortFamily::none ? sorts / 2
                                                                   : sorts;
  cost.set_points = m * sort * processor.slow.scalar;
  cost.bytes = counts.cells * plan.chunk * complex_bytes +
               m * 4 * std::ceil((25.0 + problem.dim * (6 - std::log2(std::max(problem.tol, 1e-15)))) / 32);
  cost.execute /= kClock * threads;
  cost.set_points /= kClock * threads;
  return cost;
}

bool has_large_prime_factor(std::int64_t n) {
  for (const int prime : {2, 3, 5, 7, 11, 13})
    while (n > 1 && n % prime == 0) n /= prime;
  return n > 1;
}

Cost fft_cost(const Plan& plan, const Problem& problem, double threads, const DeviceTraits& traits) {
  const auto n = static_cast<double>(mode_count(problem));
  const double real = problem.fft_type == FftType::c2c ? 1 : 0.55;
  const FftTimes times = fft_times(problem, static_cast<int>(threads), traits);
  const FftChoice& fft = plan.cpu().fft;
  Cost cost;
  cost.execute = fft.family == FftFamily::fftw    ? times.library
                 : fft.family == FftFamily::along ? times.along
                                                  : times.rows;
  // FFTW's heuristic planner sometimes picks plans that are many times slower (256^3 f32 in place: 11 times as slow).
  // Its lines with large primes are not among them.
  const bool risky = n > 1e5 && (problem.dim > 1 || !has_large_prime_factor(problem.n[0]));
  if (fft.family == FftFamily::fftw) cost.execute *= fft.rigor != Rigor::estimate ? 0.85 : risky ? 5 : 1;
  // Rarely faster than measure by more than noise, while planning takes up to ten seconds: a search tries it last.
  if (fft.rigor == Rigor::patient) cost.execute *= 1.01;
  const double complex_bytes = 2.0 * static_cast<double>(real_bytes(problem.precision));
  cost.bytes = problem.place == Place::in ? 0 : n * complex_bytes * 0.01;
  // The algorithms for large prime factors (FFTW's and ours) hold tables of 4 to 5 n and take lines of 2 to 3 n.
  for (const std::int64_t length : problem.n)
    if (has_large_prime_factor(length)) cost.bytes += 7 * real * static_cast<double>(length) * complex_bytes;
  return cost;
}

}  // namespace

Cost cpu_estimate(const Plan& plan, const Problem& problem, const DeviceTraits& traits) {
  // More threads than cores never help; fewer leave cores idle. Small problems pay for waking threads.
  const double threads = std::max(1, std::min(plan.cpu().threads, traits.cores));
  if (problem.kind == Kind::nufft && problem.type == 3) return type3_cost(plan, problem, traits, threads);
  if (problem.kind == Kind::fft) return fft_cost(plan, problem, threads, traits);
  const Slowness slow = slowness(traits, problem.precision, static_cast<int>(threads));
  Cost cost = nufft_cost(plan, problem, threads, {traits.l1_bytes, traits.l2_bytes, traits.l3_bytes, slow});
  // A nonuniform transform wakes its threads for every chunk of its batch; fft_times() has what an FFT waits.
  if (threads > 1) cost.execute += 3e-6 * slow.meeting * static_cast<double>(problem.batch) / plan.chunk;
  return cost;
}

double cpu_floor_seconds(const Plan& plan, const Problem& problem, const DeviceTraits& traits) {
  const double threads = std::max(1, std::min(plan.cpu().threads, traits.cores));
  // A peak rate per core that no current processor exceeds: 5 GHz and two 512-bit multiply-adds per cycle.
  const double flops = threads * 5e9 * (problem.precision == Precision::f32 ? 64 : 32);
  if (problem.kind == Kind::fft) {
    const double n =
        static_cast<double>(problem.n[0]) * static_cast<double>(problem.n[1]) * static_cast<double>(problem.n[2]);
    const double real = problem.fft_type == FftType::c2c ? 1 : 0.5;
    return 4 * real * static_cast<double>(problem.batch) * n * std::log2(std::max(2.0, n)) / flops;
  }
  if (problem.type == 3) return 0;
  double taps = 1;
  for (int d = 0; d < problem.dim; ++d) taps *= plan.window.width;
  return 4 * taps * static_cast<double>(problem.m.value_or(0)) * static_cast<double>(problem.batch) / flops;
}

}  // namespace fourtune::generator
