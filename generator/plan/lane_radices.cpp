#include "generator/plan/lane_radices.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "generator/window/fft_size.h"

namespace fourtune::generator {
namespace {

// Cost per element of a level of each radix, in operations, with loads and stores included. The ratios come from
// timings of the levels on an AVX-512 server core. Larger primes are sums or convolutions (prime_level).
struct LaneLevel {
  int radix;
  double cost;
};
constexpr LaneLevel kLaneLevels[] = {{16, 3.3}, {12, 3.2}, {10, 3.2}, {9, 3.2}, {8, 2.5},  {6, 2.6}, {5, 2.6},
                                     {4, 2.1},  {3, 2.3},  {2, 2.0},  {7, 3.4}, {11, 5.0}, {13, 6.0}};
// A prime as sums, and what a convolution costs beside its two transforms: values to where they are and back, and the
// product.
double sums_cost(int p) { return 1 + 0.42 * p; }
constexpr double kConvolved = 6;

// The least prime factor above 13, if there is one of at most `most`; else 0.
int larger_prime(std::int64_t n, int most) {
  for (int p = 17; p <= most && p <= n; p += 2) {
    if (n % p != 0) continue;
    bool prime = true;
    for (int q = 3; q * q <= p; q += 2) prime &= p % q != 0;
    if (prime) return p;
  }
  return 0;
}

// n without its prime factors up to 13, and those up to `most`.
std::int64_t without_factors(std::int64_t n, int most) {
  for (const int p : {2, 3, 5, 7, 11, 13})
    while (n % p == 0) n /= p;
  for (int p = larger_prime(n, most); p > 0; p = larger_prime(n, most)) n /= p;
  return n;
}

// The cheapest factorisation, by dynamic programming over divisors. Primes up to `most` may be factors; those of
// convolutions are not convolved themselves.
struct LaneChoice {
  double cost = std::numeric_limits<double>::infinity();
  int radix = 0;
};
using LaneChoices = std::map<std::int64_t, LaneChoice>;
const LaneChoice& cheapest_lanes(std::int64_t n, int most, LaneChoices& known) {
  auto [entry, fresh] = known.try_emplace(n);
  if (!fresh) return entry->second;
  LaneChoice best;
  if (n == 1) best.cost = 0;
  for (const LaneLevel& r : kLaneLevels) {
    if (n == 1 || n % r.radix != 0) continue;
    const double cost = r.cost + cheapest_lanes(n / r.radix, most, known).cost;
    if (cost < best.cost) best = {cost, r.radix};
  }
  if (const int p = larger_prime(n, most); p > 0)
    best = {(most > kLargestSummed ? prime_level(p).cost : sums_cost(p)) + cheapest_lanes(n / p, most, known).cost, p};
  return known[n] = best;
}

}  // namespace

bool has_factors_up_to(std::int64_t n, int most) { return n >= 1 && without_factors(n, most) == 1; }

PrimeLevel prime_level(int prime) {
  PrimeLevel best;
  if (prime <= kLargestSummed) best.cost = sums_cost(prime);
  const std::int64_t values = prime - 1;
  for (const std::int64_t length : {values, smooth_size(2 * values - 1)}) {
    if (!has_factors_up_to(length, kLargestSummed)) continue;
    LaneChoices known;
    const double cost =
        static_cast<double>(length) / prime * (2 * cheapest_lanes(length, kLargestSummed, known).cost + kConvolved);
    if (best.cost == 0 || cost < best.cost) best = {cost, length};
  }
  return best;
}

std::vector<int> lane_radices(std::int64_t n, int most) {
  LaneChoices known;
  std::vector<int> radices;
  for (std::int64_t rest = n; rest > 1; rest /= radices.back())
    radices.push_back(cheapest_lanes(rest, most, known).radix);
  std::sort(radices.begin(), radices.end());
  return radices;
}

double lane_cost(std::int64_t n) {
  LaneChoices known;
  return cheapest_lanes(n, kLargestConvolved, known).cost;
}

bool go_one_by_one(std::int64_t n, std::int64_t batch, int lanes) {
  const std::int64_t padded = (batch + lanes - 1) / lanes * lanes;
  const bool idle = 4 * padded > 5 * batch;
  return n > kLongLine || (idle && n >= (has_factors_up_to(n, 13) ? kShortLine : kShortPrimeLine));
}

std::int64_t matrix_columns(std::int64_t n, int lanes) {
  constexpr std::int64_t kLongest = std::int64_t{1} << 21;  // for a short transform; the two of 2^30 take 4 MiB each
  for (auto a = static_cast<std::int64_t>(std::ceil(std::sqrt(static_cast<double>(n)))); a <= kLongest && a < n; ++a)
    if (n % a == 0) return n / a >= lanes ? a : 0;
  return 0;
}

}  // namespace fourtune::generator
