// The expected cost of a plan on a CPU. Counts (rows, cells, operations) are exact; the price of each is a constant
// below. The model orders candidates and picks the untuned default plan. Tests check its direction, not its times.
#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <span>
#include <vector>

#include "generator/planner/cpu/planner.h"

namespace fourtune::generator {
namespace {

// Prices in cycles, fitted to `fourtune run` stage times of 1D-3D problems in f32 and f64 on a Sapphire Rapids core at
// about 3 GHz with AVX-512 (docs/design/cpu-choices.md). Only their ratios matter for a choice.
constexpr double kClock = 3e9;
constexpr double kPoint = 35;        // locate, gather, and evaluate the window in about one dimension
constexpr double kPerDimension = 8;  // evaluate the window in one dimension
// One 64-byte line of one row. Spreading loads, multiplies, adds and stores it; interpolation only reads it.
constexpr double kSpreadLine32 = 1.5, kSpreadLine64 = 1.8, kInterpLine32 = 1.1, kInterpLine64 = 0.5;
constexpr double kBatchPoint = 12;  // per additional transform: gather and broadcast
// Per 64-byte line of the fine grid, for a grid in the L2 cache and for a larger one. Clearing, adding and every pass
// over a larger grid move its lines through memory.
constexpr double kCellLine = 6, kFarCellLine = 60;
constexpr double kFftPassLine = 3, kFarFftPassLine = 20;
constexpr double kNearBytes = 2e6;
constexpr double kFftFlop32 = 0.05, kFftFlop64 = 0.1;  // per operation of 5 n log2 n
constexpr double kSortPoint = 22;
constexpr double kAtomicCell = 20;  // compare-and-swap per real number

struct Counts {
  double rows = 1, lines = 1, cells = 1;
};

double lanes(const Problem& problem) { return 64.0 / (2.0 * static_cast<double>(real_bytes(problem.precision))); }

bool is_far(double cells, const Problem& problem) { return cells * 64 / lanes(problem) > kNearBytes; }

Counts counts_of(const WindowChoice& window, const Problem& problem, const std::array<double, 3>& fine) {
  Counts out;
  for (int d = 1; d < problem.dim; ++d) out.rows *= window.width;
  out.lines = std::ceil(window.width / lanes(problem));
  for (int d = 0; d < problem.dim; ++d) out.cells *= fine[d];
  return out;
}

// Cost of one transform between `points` points and the grid, including 1/batch of the window evaluation.
double gridding_cycles(const Counts& counts, const Problem& problem, double points, bool spreads, const Plan& plan) {
  const double share =
      1.0 / static_cast<double>(std::max<std::int64_t>(1, std::min<std::int64_t>(plan.chunk, problem.batch)));
  const bool f32 = problem.precision == Precision::f32;
  const double row_line = spreads ? (f32 ? kSpreadLine32 : kSpreadLine64) : (f32 ? kInterpLine32 : kInterpLine64);
  double point = (kPoint + kPerDimension * problem.dim) * share + kBatchPoint + counts.rows * counts.lines * row_line;
  double cell_line = is_far(counts.cells, problem) ? kFarCellLine : kCellLine;
  if (spreads && plan.cpu().spread.family == SpreadFamily::atomic)
    point += counts.rows * 2 * plan.window.width * kAtomicCell, cell_line /= 2;
  // Interpolation straight from the grid: rows are unaligned and there is no private copy, but the grid's lines still
  // pass through the caches.
  if (!spreads && plan.cpu().interp.family == InterpFamily::direct)
    point *= problem.dim == 3 ? 1.8 : 1.25, cell_line -= kCellLine;
  // Unsorted points miss the cache unless it holds the whole grid; in that case they save the bookkeeping of tiles.
  if (plan.cpu().sort.family == SortFamily::none) point *= counts.cells > 1e5 ? 3 : problem.dim == 1 ? 0.4 : 1.2;
  return points * point + counts.cells / lanes(problem) * cell_line;
}

// Passes of a pruned FFT: along each dimension, only the lines that are neither zero nor unwanted. One length for each
// dimension; further ones are 1.
double fft_cycles(const Problem& problem, std::span<const double> fine, std::span<const double> kept) {
  const double flop = problem.precision == Precision::f32 ? kFftFlop32 : kFftFlop64;
  double cycles = 0, lines = std::accumulate(fine.begin(), fine.end(), 1.0, std::multiplies<>());
  const double pass = is_far(lines, problem) ? kFarFftPassLine : kFftPassLine;
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

Cost nufft_cost(const Plan& plan, const Problem& problem, double threads) {
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
  cost.execute =
      batch * (gridding_cycles(counts, problem, m, problem.type == 1, plan) + fft_cycles(problem, fine, kept));
  cost.set_points = m * (plan.cpu().sort.family == SortFamily::none ? kSortPoint / 2 : kSortPoint);
  cost.bytes = counts.cells * plan.chunk * complex_bytes +
               m * 4 * std::ceil((25.0 + problem.dim * (6 - std::log2(std::max(problem.tol, 1e-15)))) / 32);
  cost.execute /= kClock * threads;
  cost.set_points /= kClock * threads;
  return cost;
}

Cost fft_cost(const Plan& plan, const Problem& problem, double threads) {
  const auto n = static_cast<double>(mode_count(problem));
  const double real = problem.fft_type == FftType::c2c ? 1 : 0.55;
  const std::vector<double> fine(problem.n.begin(), problem.n.end());
  Cost cost;
  cost.execute = real * static_cast<double>(problem.batch) * fft_cycles(problem, fine, fine) / (kClock * threads);
  // FFTW's heuristic planner sometimes picks plans that are many times slower (256^3 f32 in place: 11 times as slow).
  const FftChoice& fft = plan.cpu().fft;
  if (fft.family == FftFamily::fftw && fft.rigor == Rigor::estimate) cost.execute *= n > 1e5 ? 5 : 1.2;
  // Rarely faster than measure by more than noise, while planning takes tens of seconds: a search tries it last.
  if (fft.rigor == Rigor::patient) cost.execute *= 1.01;
  cost.bytes = problem.place == Place::in ? 0 : n * 2 * static_cast<double>(real_bytes(problem.precision)) * 0.01;
  return cost;
}

}  // namespace

Cost cpu_estimate(const Plan& plan, const Problem& problem, const DeviceTraits& traits) {
  // More threads than cores never help; fewer leave cores idle. Small problems pay for waking threads.
  const double threads = std::max(1, std::min(plan.cpu().threads, traits.cores));
  if (problem.kind == Kind::nufft && problem.type == 3) return type3_cost(plan, problem, traits, threads);
  Cost cost = problem.kind == Kind::fft ? fft_cost(plan, problem, threads) : nufft_cost(plan, problem, threads);
  // An FFT wakes its threads once, a nonuniform transform for every chunk of its batch.
  const double calls = problem.kind == Kind::fft ? 1 : static_cast<double>(problem.batch) / plan.chunk;
  if (threads > 1) cost.execute += 3e-6 * calls;
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
