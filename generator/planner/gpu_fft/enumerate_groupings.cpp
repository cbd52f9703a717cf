// Groupings: the ways to distribute the factors of every dimension over kernels.
#include <algorithm>
#include <cmath>

#include "base/layout.h"
#include "generator/planner/gpu_fft/enumerate_steps.h"
#include "generator/planner/gpu_fft/plan_cost.h"

namespace fourtune::generator::fft {
namespace {

using Shares = std::vector<std::int64_t>;  // factors of one dimension, by kernel

std::int64_t product_of(const Lengths& part) { return part[0] * part[1] * part[2] * part[3]; }

std::vector<std::int64_t> divisors(std::int64_t n) {
  std::vector<std::int64_t> out;
  for (std::int64_t d = 1; d * d <= n; ++d) {
    if (n % d != 0) continue;
    out.push_back(d);
    if (d * d != n) out.push_back(n / d);
  }
  std::sort(out.begin(), out.end());
  return out;
}

// Ordered factorisations of n over the kernels, with at most `pieces` factors other than 1.
void split(std::int64_t n, int kernels, int pieces, Shares& so_far, std::vector<Shares>& out) {
  if (kernels == 0) {
    if (n == 1) out.push_back(so_far);
    return;
  }
  for (const std::int64_t d : divisors(n)) {
    if (d > 1 && pieces == 0) continue;
    so_far.push_back(d);
    split(n / d, kernels - 1, d > 1 ? pieces - 1 : pieces, so_far, out);
    so_far.pop_back();
  }
}

// A first estimate of the smallest tile of a kernel whose runs along x are at least one sector (32 bytes) long.
std::int64_t smallest_tile(const Grouping& grouping, std::size_t k, const FftRequest& request, const Lengths& n) {
  const std::int64_t sector = 32 / (2 * real_bytes(request.precision));
  std::int64_t below = 1;  // number of positions of x below this kernel's digits
  for (std::size_t later = k + 1; later < grouping.size(); ++later) below *= grouping[later][0];
  const std::int64_t part = grouping[k][0];
  std::int64_t x = part > 1 ? part * std::min(below, sector) : std::min(sector, n[0]);
  if (part > 1 && below == 1) x = std::max(x, std::min(sector, n[0]));
  return x * grouping[k][1] * grouping[k][2] * grouping[k][3];
}

// The least time in seconds that memory needs if tiles of this grouping have the longest possible runs along x, and the
// number of pieces into which dimensions are cut.
struct GroupingFloor {
  double seconds = 0;
  int pieces = 0;
};
GroupingFloor floor_of(const Grouping& grouping, const FftRequest& request, const DeviceTraits& device,
                       std::int64_t largest) {
  const double complex_bytes = static_cast<double>(2 * real_bytes(request.precision));
  auto values = static_cast<double>(request.batch);
  for (const std::int64_t n : request.lengths) values *= static_cast<double>(n);
  GroupingFloor out;
  const std::int64_t x = request.lengths[0];
  std::int64_t below = x, above = 1;  // positions of x below and above this kernel's digits
  for (const auto& part : grouping) {
    below /= part[0];
    const bool along = part[0] > 1, last = along && below == 1 && request.order == DigitOrder::natural;
    const auto seconds = [&](std::int64_t tile) {  // for one kernel
      const std::int64_t room = std::max<std::int64_t>(1, tile / product_of(part));
      // Neighbours of a tile lie below its digits where it reads them, and where the last digits are stored in natural
      // order, above.
      const auto run = [&](std::int64_t between) {
        return static_cast<double>(std::min(along && room >= between ? room * part[0] : std::min(room, between), x));
      };
      const double read = run(along ? below : x), write = last ? run(above) : read;
      return values * complex_bytes / copy_bandwidth(device) *
             (1 / run_efficiency(read * complex_bytes) + 1 / run_efficiency(write * complex_bytes));
    };
    // One block, or the smallest cluster that holds the data, or a larger cluster for longer runs.
    double best = 0;
    for (int cluster = 1; cluster <= largest_cluster(device); cluster *= 2) {
      if (cluster < largest_cluster(device) && product_of(part) > largest * cluster) continue;
      const double crossing = values * complex_bytes * (1 - 1.0 / cluster) / copy_bandwidth(device);
      const double sum = seconds(largest * cluster) + crossing;
      if (best == 0 || sum < best) best = sum;
    }
    out.seconds += best;
    for (const std::int64_t p : part) out.pieces += p > 1 ? 1 : 0;
    above *= part[0];
  }
  return out;
}

}  // namespace

std::vector<Grouping> best_groupings(std::vector<Grouping> all, const FftRequest& request, const DeviceTraits& device,
                                     double& best_seconds, const EnumerationLimits& limits, CountTable& counts) {
  const bool alone = !all.empty() && all.front().size() == 1 && request.lengths[1] == 1;
  const std::int64_t largest = largest_tile(device, request.precision, alone) / largest_cluster(device);
  std::vector<std::pair<GroupingFloor, std::size_t>> order;
  for (std::size_t i = 0; i < all.size(); ++i) order.emplace_back(floor_of(all[i], request, device, largest), i);
  std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    if (a.first.seconds != b.first.seconds) return a.first.seconds < b.first.seconds;
    return a.first.pieces != b.first.pieces ? a.first.pieces < b.first.pieces : a.second < b.second;
  });
  if (!order.empty())
    best_seconds = best_seconds == 0 ? order[0].first.seconds : std::min(best_seconds, order[0].first.seconds);
  std::vector<Grouping> within;
  for (const auto& [bound, i] : order)
    if (bound.seconds <= limits.slack * best_seconds) within.push_back(std::move(all[i]));
  counts.add("groupings", "floor of bytes with the longest runs within the slack", static_cast<double>(all.size()),
             static_cast<double>(within.size()));
  const auto kept = std::min(within.size(), static_cast<std::size_t>(limits.ranked));
  counts.add("groupings", "the best by that floor", static_cast<double>(within.size()), static_cast<double>(kept));
  within.resize(kept);
  return within;
}

std::int64_t largest_tile(const DeviceTraits& device, Precision precision, bool alone) {
  const int words = static_cast<int>(real_bytes(precision) / 4);
  std::int64_t registers = 0;
  for (const int threads : {32, 64, 128, 256, 384, 512, 768, 1024}) {
    const int each = std::min(255, device.registers_per_multiprocessor / threads / 8 * 8);
    registers = std::max<std::int64_t>(
        registers, std::int64_t{threads} *
                       (alone ? (each - least_spare_registers * words) / (2 * words) : (each - 16) / (3 * words)));
  }
  const std::int64_t shared = device.shared_per_block / real_bytes(precision);
  return std::min(registers, shared) * largest_cluster(device);
}

namespace {

// Whether the prime factors of a dimension's parts ascend from kernel to kernel.
bool ascend(const Shares& shares) {
  std::int64_t last = 1;
  for (const std::int64_t part : shares) {
    const auto primes = prime_factors(part);
    if (primes.empty()) continue;
    if (primes.front() < last) return false;
    last = primes.back();
  }
  return true;
}

}  // namespace

std::vector<Grouping> groupings(const FftRequest& request, int dims, const DeviceTraits& device, int kernels,
                                CountTable& counts) {
  std::array<std::vector<Shares>, most_dimensions> ways;
  double all = 1;
  for (std::size_t d = 0; d < ways.size(); ++d) {
    Shares so_far;
    // With four dimensions, as many kernels leave each of them whole; else there would be millions of groupings.
    const int pieces = dims == 1 ? kernels : dims == most_dimensions && kernels >= dims ? 1 : std::min(kernels, 2);
    split(request.lengths[d], kernels, pieces, so_far, ways[d]);
    if (request.order == DigitOrder::primes)
      std::erase_if(ways[d], [](const Shares& shares) { return !ascend(shares); });
    all *= static_cast<double>(ways[d].size());
  }
  const std::int64_t largest = largest_tile(device, request.precision, kernels == 1 && dims == 1);
  double not_empty = 0;
  std::vector<Grouping> out;
  for (const Shares& x : ways[0])
    for (const Shares& y : ways[1])
      for (const Shares& z : ways[2])
        for (const Shares& w : ways[3]) {
          Grouping grouping;
          for (std::size_t k = 0; k < static_cast<std::size_t>(kernels); ++k)
            grouping.emplace_back(x[k], y[k], z[k], w[k]);
          if (std::any_of(grouping.begin(), grouping.end(), [](const Lengths& p) { return product_of(p) == 1; }))
            continue;
          ++not_empty;
          bool fits = true;
          for (std::size_t k = 0; k < grouping.size(); ++k)
            fits = fits && smallest_tile(grouping, k, request, request.lengths) <= largest;
          if (fits) out.push_back(std::move(grouping));
        }
  counts.add("groupings", "no kernel without work", all, not_empty);
  counts.add("groupings", "a tile with runs of 32 bytes fits a block or a cluster", not_empty,
             static_cast<double>(out.size()));
  return out;
}

namespace {

void sequences(std::int64_t part, int largest, int left, std::vector<int>& so_far, std::vector<std::vector<int>>& out) {
  if (left == 0) {
    if (part == 1) out.push_back(so_far);
    return;
  }
  for (int radix = 2; radix <= largest; ++radix) {
    if (part % radix != 0) continue;
    so_far.push_back(radix);
    sequences(part / radix, largest, left - 1, so_far, out);
    so_far.pop_back();
  }
}

}  // namespace

std::vector<std::vector<int>> radix_sequences(std::int64_t part) {
  std::vector<std::vector<int>> out;
  if (part == 1) return {{}};
  if (part <= most_radix) out.push_back({static_cast<int>(part)});
  for (const int largest : {8, 16, 32, 64}) {
    if (largest == 64 && !out.empty()) break;  // 37 to 64 only if nothing smaller is possible
    std::vector<std::vector<int>> found;
    for (int length = 1; length <= 8 && found.empty(); ++length) {
      std::vector<int> so_far;
      sequences(part, largest, length, so_far, found);
    }
    // Unbalanced sequences only if there are no others: a radix below 4 is hardly worth its exchange through shared
    // memory.
    std::vector<std::vector<int>> even;
    for (const auto& f : found)
      if (f.size() < 2 || *std::min_element(f.begin(), f.end()) >= 4) even.push_back(f);
    for (const auto& f : even.empty() ? found : even)
      if (std::find(out.begin(), out.end(), f) == out.end()) out.push_back(f);
  }
  return out;
}

FftPlan plan_of(const FftRequest& request, const Grouping& grouping, const std::vector<KernelRadices>& radices,
                const std::vector<int>& descending) {
  FftPlan plan;
  plan.order = request.order;
  plan.precision = request.precision;
  plan.place = request.place;
  Lengths rest = request.lengths;
  for (std::size_t k = 0; k < grouping.size(); ++k) {
    Kernel kernel;
    for (int i = 0; i < most_dimensions; ++i) {
      const auto d = static_cast<std::size_t>(descending[k] != 0 ? most_dimensions - 1 - i : i);
      for (const int radix : radices[k][d]) {
        const std::int64_t n = rest[d];
        kernel.subs.push_back({static_cast<Dim>(d), request.lengths[d] / radix, radix, n / radix, n, n != radix});
        rest[d] /= radix;
      }
    }
    kernel.with.exchange = kernel.subs.size() > 1 ? Exchange::shared : Exchange::none;
    plan.kernels.push_back(std::move(kernel));
  }
  return plan;
}

}  // namespace fourtune::generator::fft
