#include "generator/codegen/fft/any_length/line_radices.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/layout.h"

namespace fourtune::generator::fft {

std::int64_t most_held(Precision precision) { return precision == Precision::f32 ? 32 : 16; }

std::vector<int> radices_up_to_16(std::int64_t n) {
  std::vector<int> primes, radices;
  for (std::int64_t p = 2; n > 1; ++p)
    while (n % p == 0) primes.push_back(static_cast<int>(p)), n /= p;
  std::sort(primes.rbegin(), primes.rend());
  for (const int p : primes) {  // the largest radix up to 16 that can take the factor
    int* best = nullptr;
    for (int& r : radices)
      if (r * p <= 16 && (!best || r > *best)) best = &r;
    if (best)
      *best *= p;
    else
      radices.push_back(p);
  }
  std::sort(radices.rbegin(), radices.rend());
  // Replaces 16 16 16 2 by 16 8 8 8: a round of two values costs as much as any other.
  if (radices.size() > 3 && radices.back() == 2 && radices[1] == 16 && radices[2] == 16)
    radices[1] = radices[2] = radices.back() = 8, std::sort(radices.rbegin(), radices.rend());
  return radices;
}

namespace {

// Two or three radices of at most `most` whose product is n, the largest first and as equal as can be; nothing if there
// are none.
std::vector<int> balanced(std::int64_t n, std::int64_t most, bool three) {
  for (std::int64_t large = 2; large <= most; ++large) {
    if (n % large != 0) continue;
    const std::int64_t rest = n / large;
    if (rest <= large && rest > 1) return {static_cast<int>(large), static_cast<int>(rest)};
    if (!three) continue;
    if (std::vector<int> others = balanced(rest, large, false); !others.empty())
      return {static_cast<int>(large), others[0], others[1]};
  }
  return {};
}

}  // namespace

std::vector<int> radices_of_line(std::int64_t n, Precision precision) {
  const std::int64_t most = most_held(precision);
  if (n <= most) return {static_cast<int>(n)};
  std::vector<int> usual = radices_up_to_16(n);
  // 4096 x 1024 on an H100: 50.6 us by radices of 8, 52.9 by 16, whose values take most registers.
  if (precision == Precision::f64 && usual == std::vector{16, 16, 16}) return {8, 8, 8, 8};
  if (std::vector<int> pair = balanced(n, 16, false); !pair.empty()) return pair;
  // Odd lengths have few products up to 16 (3125 takes five), others leave a round of two or three values (4056 = 13 13
  // 12 2, 399 = 19 7 3), and a line that fills a block has as many values per thread as fit: larger radices save
  // exchanges.
  const bool small_round = usual.back() <= 3;
  if ((usual.size() > 3 && (n % 2 == 1 || small_round)) || n > 8192)
    for (const bool three : {false, true})
      if (std::vector<int> fewer = balanced(n, most, three); !fewer.empty()) return fewer;
  if (usual.size() == 3 && (small_round || usual.back() <= 5) &&
      usual.front() > 16)  // registers hold as many values anyway
    if (std::vector<int> two = balanced(n, most, false); !two.empty()) return two;
  return usual;
}

std::vector<int> radices_of_short_real_line(std::int64_t n, FftType type, Precision precision) {
  // Larger radices spill in f64, and leave few threads.
  constexpr std::int64_t most_held_real = 30, most_of_two = 26;
  if (n < 10 || n > longest_short_real || (n & (n - 1)) == 0) return {};
  if (n <= most_held_real) return {static_cast<int>(n)};
  std::vector<int> pair = balanced(n, most_of_two, false);
  // The larger radix first loads more values at once; a c2r completes its spectrum there, for which a large radix has
  // no registers left: 432 f64 x 9709 on an H100 26.4 us by 18 and 24, 31.5 by 24 and 18; r2c 247 f64 x 16981 27.4 by
  // 19 and 13, 31.7 by 13 and 19.
  // In f32 an r2c of up to 64 values takes less with the smaller one first (63 x 133153 26.1 and 27.5 us).
  constexpr int large = 16, no_small_round = 8, shortest = 64;
  const bool completes = type == FftType::c2r && !pair.empty() && pair[0] > large && pair[1] >= no_small_round;
  if (completes || (type == FftType::r2c && precision == Precision::f32 && n <= shortest))
    std::reverse(pair.begin(), pair.end());
  return pair;
}

std::vector<int> radices_for_two_blocks(std::int64_t n, Precision precision) {
  constexpr std::int64_t spare = 20;  // registers beside a thread's values
  const std::int64_t words = real_bytes(precision) / 4, most = (registers_of_two - spare * words) / (2 * words);
  const auto held = [&](std::int64_t r) { return (n / r + threads_of_two - 1) / threads_of_two * r; };
  std::vector<int> best;
  std::int64_t least = 3 * most + 1;
  for (std::int64_t a = 2; a <= most; ++a)
    for (std::int64_t b = 2; b <= a; ++b) {
      const std::int64_t c = n / (a * b);
      if (a * b * c != n || c > b || c < 2) continue;
      const std::int64_t all = held(a) + held(b) + held(c);
      if (std::max({held(a), held(b), held(c)}) > most || all >= least) continue;
      least = all, best = {static_cast<int>(a), static_cast<int>(c), static_cast<int>(b)};
    }
  return best;
}

int threads_for(std::int64_t values, const std::vector<int>& group) {
  const std::int64_t most = *std::max_element(group.begin(), group.end());
  constexpr std::int64_t warp = 32, widest = 512;
  const std::int64_t usual =
      std::clamp<std::int64_t>((values / std::max<std::int64_t>(most, 8) + warp - 1) / warp * warp, warp, widest);
  // A round with a few more DFTs than threads makes all threads wait for a second one of some: 245 DFTs of 7 values
  // take 256 threads once and 224 twice. `slots`: what all rounds take together, in values and threads.
  const auto slots = [&](std::int64_t threads) {
    std::int64_t sum = 0;
    for (const int r : group) sum += (values / r + threads - 1) / threads * threads * r;
    return sum;
  };
  std::int64_t best = usual;
  for (std::int64_t threads = usual + warp; threads <= std::min(widest, 3 * usual / 2); threads += warp)
    if (slots(threads) < slots(best)) best = threads;
  return static_cast<int>(best);
}

std::optional<int> threads_of_long_line(std::int64_t n, const std::vector<int>& radices, Precision precision) {
  constexpr std::int64_t widest = 512, warp = 32;
  const auto holds = [&](std::int64_t threads) {
    return std::all_of(radices.begin(), radices.end(),
                       [&](int r) { return (n / r + threads - 1) / threads * r <= most_held(precision); });
  };
  if (holds(widest)) return threads_for(n, radices);
  // One DFT for each thread in every round.
  const std::int64_t each = (n / *std::min_element(radices.begin(), radices.end()) + warp - 1) / warp * warp;
  if (each > threads_of_longest || !holds(each)) return {};
  return static_cast<int>(each);
}

std::optional<EvenTile> even_tile(int large, int small) {
  constexpr std::int64_t warp = 32, least = 960, most = 2800;
  const std::int64_t lines = warp / std::gcd(warp, std::int64_t{small}), values = lines * large * small;
  const std::int64_t times = std::max<std::int64_t>(1, (least + values - 1) / values);
  if (times * values > most) return {};
  // Threads have large / small DFTs of the smaller radix. Where that is not whole, the round of some threads goes last,
  // behind the loads: 63 f32 x 266305 on an H100 92.0 us so and 106.0 the other way, 75 (15 by 5) 98.4 and 91.9. Lines
  // of an even length, whose shared rows need no padding, hide it: 78 f32 x 215093 on an H200 71.0 and 67.0.
  const bool whole = large % small == 0, hidden = large * small % 2 == 0 && large >= 2 * small;
  return EvenTile{static_cast<int>(times * lines), static_cast<int>(times * lines * small), whole || hidden};
}

std::int64_t lines_of_thread(std::int64_t n) { return std::max<std::int64_t>(1, 8 / n); }

std::int64_t threads_of_short(std::int64_t n, Precision precision) {
  return n * 2 * real_bytes(precision) > 256 ? 64 : 128;  // a tile of at most 32 KB, or two warps
}

Coalesce coalesce_of(const std::vector<int>& radices, std::int64_t n, Precision precision, std::int64_t least_run) {
  const std::int64_t bytes = n * 2 * real_bytes(precision);
  const bool load = bytes / radices.front() < least_run, store = bytes / radices.back() < least_run;
  return load && store ? Coalesce::both : load ? Coalesce::load : store ? Coalesce::store : Coalesce::none;
}

std::vector<int> ascending_radices_of(std::int64_t n) {
  std::vector<int> radices;
  for (const std::int64_t p : prime_factors(n)) {
    if (!radices.empty() && radices.back() * p <= 16)
      radices.back() *= static_cast<int>(p);
    else
      radices.push_back(static_cast<int>(p));
  }
  return radices;
}

std::vector<std::vector<int>> ascending_kernels_of(const std::vector<int>& radices, std::int64_t most) {
  std::int64_t total = 1, count = 1, reach = most;
  for (const int r : radices) total *= r;
  while (reach < total) ++count, reach *= most;
  const double share = std::pow(static_cast<double>(total), 1 / static_cast<double>(count));
  std::vector<std::vector<int>> groups;
  std::int64_t product = most;
  for (const int r : radices) {
    if (product * r > most || static_cast<double>(product) >= 0.9 * share) groups.emplace_back(), product = 1;
    groups.back().push_back(r), product *= r;
  }
  return groups;
}

std::vector<std::vector<int>> kernels_of(const std::vector<int>& radices, std::int64_t most) {
  std::int64_t total = 1;
  for (const int r : radices) total *= r;
  std::int64_t count = 1, reach = most;
  while (reach < total) ++count, reach *= most;
  for (;; ++count) {  // equal shares
    std::vector<std::vector<int>> groups(static_cast<std::size_t>(count));
    std::vector<std::int64_t> product(groups.size(), 1);
    for (const int r : radices) {
      const auto least = static_cast<std::size_t>(std::min_element(product.begin(), product.end()) - product.begin());
      groups[least].push_back(r), product[least] *= r;
    }
    if (*std::max_element(product.begin(), product.end()) <= most) return groups;
  }
}

std::vector<std::vector<int>> two_kernels_of(std::int64_t n, std::int64_t most) {
  for (auto a = static_cast<std::int64_t>(std::sqrt(static_cast<double>(n))); a > 1 && n / a <= most; --a)
    if (n % a == 0) return {radices_up_to_16(n / a), radices_up_to_16(a)};
  return {};
}

}  // namespace fourtune::generator::fft
