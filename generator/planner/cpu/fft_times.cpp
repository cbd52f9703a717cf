// Both times are sums of counts and prices. Prices are in nanoseconds, fitted to 590 drawn transforms (`fourtune soak
// --list --fft`, seed 19010: 260 of at most 3 MB, seed 19012: 330 of at most 2 MB), each with both families on one and
// two threads of an Intel Xeon with AVX-512 and Debian's FFTW: least absolute logarithms of the ratios
// (docs/design/cpu-choices.md).
#include "generator/planner/cpu/fft_times.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "fourtune/problem.h"
#include "generator/planner/cpu/slowness.h"

namespace fourtune::generator {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr std::int64_t kBlock = 64;                            // lines that are transformed together
constexpr std::int64_t kLongLine = 8192, kShortLine = 4096;    // of runtime's long.h
constexpr double kL1 = 40e3, kNear = 1.5e6, kApart = 2 << 20;  // bytes of a block, of all arrays, of a long line
constexpr double kMeet = 3e-6, kMeetLong = 22e-6;              // seconds in which threads begin and end a step together

struct RowsPrices {
  double contiguous, strided;  // moving a value of a line along x, and of another one, to a vector's lane and back
  double level;                // an operation of a level of the transform
  double convolved;            // the same of lengths with large prime factors
  double beyond_l1;            // a value of a block that the first-level cache does not hold
  double real;                 // splitting a value of a real line
  double block, call;
  double long_line;  // a value and bit of a line that threads share
};
constexpr RowsPrices kRows32{0.316, 0.033, 0.089, 0.045, 0, 0.305, 109, 137, 0.10};
constexpr RowsPrices kRows64{0.830, 0.168, 0.122, 0.090, 0.144, 0.508, 60, 223, 0.22};

struct LibraryPrices {
  double bit, odd, medium;  // a value: per bit of its length, per bit of factors 3, 5 and 7, per factor 11 and 13
  double prime;             // per unit of a larger prime factor, up to 64
  double conflict;          // a value of a line whose values compete for the same places in the cache
  double far;               // in memory
  double line, transform;   // a line without straight-line code; a transform of the batch
  double odd_real, real;    // a value of a real transform
  double call;
};
constexpr LibraryPrices kLibrary32{0.116, 0.115, 0.034, 0.191, 1.91, 0, 34, 0.25, 1.22, 1.11, 107};
constexpr LibraryPrices kLibrary64{0.165, 0.111, 0.037, 0.220, 1.28, 0.50, 30, 0.16, 3.59, 0.63, 93};

// Our lines are whole vectors: their levels wait for arithmetic, their moves for loads.
RowsPrices prices_here(RowsPrices price, const Slowness& slow) {
  price.contiguous *= slow.near, price.strided *= slow.near, price.real *= slow.near;
  price.level *= slow.arithmetic, price.convolved *= slow.arithmetic, price.long_line *= slow.arithmetic;
  price.beyond_l1 *= slow.second;
  price.block *= slow.scalar, price.call *= slow.scalar;
  return price;
}
// FFTW's vectors are as narrow on every processor, so that its code runs at the clock, but for what misses a cache.
LibraryPrices prices_here(LibraryPrices price, const Slowness& slow) {
  for (double* const one : {&price.bit, &price.odd, &price.medium, &price.prime, &price.line, &price.transform,
                            &price.odd_real, &price.real, &price.call})
    *one *= slow.scalar;
  price.conflict *= slow.second, price.far *= slow.far;
  return price;
}

// Lengths beyond this take hours; what they cost is not looked at closely, so that nobody waits for the answer.
constexpr std::int64_t kLongest = std::int64_t{1} << 30;

bool is_smooth(std::int64_t n) {
  for (const int p : {2, 3, 5, 7, 11, 13})
    while (n % p == 0) n /= p;
  return n == 1;
}

// Operations per value: those of the cheapest product of radices (runtime's simd.cpp has the same table).
double level_cost(std::int64_t n) {
  if (n > kLongest) return 0.83 * std::log2(static_cast<double>(n));  // radix 16
  constexpr std::array<std::pair<int, double>, 13> radices{{{16, 3.3},
                                                            {12, 3.2},
                                                            {10, 3.2},
                                                            {9, 3.2},
                                                            {8, 2.5},
                                                            {6, 2.6},
                                                            {5, 2.6},
                                                            {4, 2.1},
                                                            {3, 2.3},
                                                            {2, 2.0},
                                                            {7, 3.4},
                                                            {11, 5.0},
                                                            {13, 6.0}}};
  // The least cost of what is left of n, for the largest parts first.
  std::map<std::int64_t, double, std::greater<>> known{{n, 0}};
  for (const auto& [rest, cost] : known)
    for (const auto& [radix, more] : radices)
      if (rest % radix == 0) {
        const auto next = known.try_emplace(rest / radix, kNever).first;
        next->second = std::min(next->second, cost + more);
      }
  return known.count(1) ? known[1] : kNever;
}

struct Shape {
  bool real, f32;
  std::vector<double> size;  // of the complex side
  double batch, values;      // values: of all transforms
  double value_bytes;
  std::int64_t lanes;  // of a 64-byte vector
};

Shape shape_of(const Problem& problem) {
  Shape s;
  s.real = problem.fft_type != FftType::c2c;
  s.f32 = problem.precision == Precision::f32;
  s.value_bytes = s.f32 ? 8 : 16;
  s.lanes = s.f32 ? 16 : 8;
  s.batch = static_cast<double>(problem.batch);
  s.values = s.batch;
  for (int d = 0; d < problem.dim; ++d) {
    const std::int64_t n = problem.n[static_cast<std::size_t>(d)];
    s.size.push_back(static_cast<double>(s.real && d == 0 ? n / 2 + 1 : n));
    s.values *= s.size.back();
  }
  return s;
}

// A single line, or long ones, which threads share.
bool shares_lines(const Problem& problem, const Shape& s) {
  const std::int64_t n = problem.n[0];
  const bool few = 4 * problem.batch < s.lanes;
  return problem.dim == 1 && !s.real && n >= kShortLine && (n > kLongLine || few);
}

double rows_seconds(const Problem& problem, const Shape& s, int threads, const Slowness& slow) {
  const RowsPrices price = prices_here(s.f32 ? kRows32 : kRows64, slow);
  const double meet = kMeet * slow.meeting, meet_long = kMeetLong * slow.meeting;
  if (shares_lines(problem, s)) {
    const auto n = static_cast<double>(problem.n[0]);
    // Other lengths are convolved: two transforms of at least twice the length, and threads gain less.
    const bool smooth = is_smooth(problem.n[0]);
    const double once = (smooth ? 1 : 7) * price.long_line * n * std::log2(n) * 1e-9;
    // Threads take whole transforms of a batch, or share each.
    if (smooth && n * s.value_bytes <= kApart && (problem.batch % threads == 0 || problem.batch >= 3 * threads))
      return (threads > 1 ? meet : 0) + 1.1 * once * std::ceil(s.batch / threads);
    return s.batch * (threads > 1 ? (smooth ? 1.1 : 1.5) * once / threads + meet_long : once);
  }
  double ns = price.call, units = kNever;
  for (std::size_t d = 0; d < s.size.size(); ++d) {
    const std::int64_t n = problem.n[d];
    if (n == 1) continue;
    const std::int64_t length = s.real && d == 0 && n % 2 == 0 ? n / 2 : n;
    // Lines of a block are neighbours along the next dimension, or of the batch; the last vector of them may be part empty.
    auto neighbours = static_cast<std::int64_t>(s.batch);
    for (std::size_t e = s.size.size(); e-- > 0;)
      if (e != d && s.size[e] > 1) neighbours = static_cast<std::int64_t>(s.size[e]);
    const std::int64_t rest = neighbours % kBlock,
                       padded = neighbours - rest + (rest + s.lanes - 1) / s.lanes * s.lanes;
    const double lines = s.values / s.size[d] * static_cast<double>(padded) / static_cast<double>(neighbours);
    const double values = lines * static_cast<double>(length);
    ns += values * (d == 0 ? price.contiguous + (s.real ? price.real : 0) : price.strided);
    if (is_smooth(length)) {
      ns += values * price.level * level_cost(length);
    } else {  // convolved
      std::int64_t whole = kLongest;
      if (length < kLongest / 2)
        for (whole = 2 * length - 1; !is_smooth(whole);) ++whole;
      ns += lines * std::max(static_cast<double>(whole), 2.0 * static_cast<double>(length)) * price.convolved *
            (2 * level_cost(whole) + 6);
    }
    const std::int64_t block = std::min<std::int64_t>(kBlock, padded);
    if (static_cast<double>(block) * static_cast<double>(length) * s.value_bytes > kL1) ns += values * price.beyond_l1;
    const double blocks = std::ceil(s.values / s.size[d] / static_cast<double>(std::min(neighbours, kBlock)));
    ns += blocks * price.block;
    units = std::min(units, std::ceil(s.values / s.size[d] / static_cast<double>(std::min(neighbours, s.lanes))));
  }
  if (threads == 1) return ns * 1e-9;
  const double steps = s.batch >= 2 * threads ? 1 : static_cast<double>(problem.dim);
  return 1.15e-9 * ns / std::min<double>(threads, units) + meet * steps;
}

// How many values at this distance in bytes a first-level cache of 64 sets of 12 lines of 64 bytes holds.
std::int64_t held_at_stride(std::int64_t stride) {
  constexpr std::int64_t sets = 64, ways = 12, period = sets * 64;
  return ways * std::min(sets, period / std::gcd(stride, period));
}

double library_seconds(const Problem& problem, const Shape& s, int threads, const Slowness& slow) {
  const LibraryPrices price = prices_here(s.f32 ? kLibrary32 : kLibrary64, slow);
  double ns = price.call + price.transform * s.batch, stride = s.value_bytes;
  for (std::size_t d = 0; d < s.size.size(); stride *= s.size[d++]) {
    const std::int64_t n = problem.n[d];
    if (n == 1) continue;
    double value = price.bit * std::log2(std::max(2.0, static_cast<double>(s.real && d == 0 ? n / 2 : n)));
    std::int64_t rest = n;
    for (int p = 2; p < 64; ++p)
      for (; rest % p == 0; rest /= p)
        value += p > 13 ? price.prime * p : p > 7 ? price.medium * p : p > 2 ? price.odd * std::log2(p) : 0;
    if (rest > 1) value += price.prime * 64;
    const bool straight = n <= 16 || n == 20 || n == 25 || n == 32 || n == 64;
    if (!straight) ns += s.values / s.size[d] * price.line;
    if (!straight && n > held_at_stride(static_cast<std::int64_t>(std::fmod(stride, 1 << 20)))) value += price.conflict;
    ns += s.values * value;
  }
  const bool odd_real = s.real && problem.n[0] % 2 != 0;
  if (s.real) ns += s.values * (price.real + (odd_real ? price.odd_real : 0));
  if (s.values * s.value_bytes * (problem.place == Place::in ? 1 : 2) > kNear) ns += s.values * price.far;
  if (threads == 1) return ns * 1e-9;
  // Its estimate for several threads takes up to ten times as long for odd real lengths of several dimensions.
  return odd_real && problem.dim > 1 ? kNever : 1.25e-9 * ns / threads + kMeet * slow.meeting;
}

}  // namespace

FftTimes fft_times(const Problem& problem, int threads, const DeviceTraits& traits) {
  const Shape s = shape_of(problem);
  const Slowness slow = slowness(traits, problem.precision, threads);
  return {rows_seconds(problem, s, threads, slow), library_seconds(problem, s, threads, slow)};
}

}  // namespace fourtune::generator
