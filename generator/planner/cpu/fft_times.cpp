// All times are sums of counts and prices in nanoseconds (fft_prices.cpp).
#include "generator/planner/cpu/fft_times.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string_view>
#include <vector>

#include "fourtune/problem.h"
#include "generator/plan/along.h"
#include "generator/plan/fft_boxes.h"
#include "generator/plan/lane_radices.h"
#include "generator/planner/cpu/slowness.h"

namespace fourtune::generator {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr std::int64_t kBlock = 64;  // lines that are transformed together
// Bytes of a block, of all arrays, of a long line in the caches, and of one that a thread takes alone.
constexpr double kL1 = 40e3, kNear = 1.5e6, kHeld = 2 << 20, kApart = 4 << 20;
// What FFTW's real lines of odd length take longer where a convolution is in them: 2.0 to 2.7 times on an AMD EPYC.
constexpr double kOddRealPrime = 2.1;
constexpr double kNarrow = 1.1;  // a value in vectors of half as many lanes
// Nanoseconds of a cache line that FFTW's threads both write, as each has a part of every row.
constexpr double kLineOfTwo = 30, kLineBytes = 64;
// Bytes of a line's work areas, and of these and its arrays.
constexpr double kAlongL1 = 24e3, kAlongL2 = 1e6;

// Our lines are whole vectors: their levels wait for arithmetic, their moves for loads.
RowsPrices prices_here(RowsPrices price, const Slowness& slow) {
  price.contiguous *= slow.near, price.strided *= slow.near, price.real *= slow.near;
  price.level *= slow.arithmetic, price.convolved *= slow.arithmetic, price.long_level *= slow.arithmetic;
  price.beyond_l1 *= slow.second, price.exchanged *= slow.second, price.long_line *= slow.near;
  price.block *= slow.scalar, price.call *= slow.scalar, price.far *= slow.far;
  return price;
}
// FFTW's vectors are as narrow on every processor, so that its code runs at the clock, except for what misses a cache.
LibraryPrices prices_here(LibraryPrices price, const Slowness& slow) {
  for (double* const one : {&price.bit, &price.odd, &price.medium, &price.prime, &price.line, &price.transform,
                            &price.odd_real, &price.real, &price.call})
    *one *= slow.scalar;
  price.conflict *= slow.second, price.exchanged *= slow.second, price.far *= slow.far;
  return price;
}

AlongPrices prices_here(AlongPrices price, const Slowness& slow) {
  price.value *= slow.near, price.real *= slow.near, price.pass *= slow.arithmetic;
  price.beyond *= slow.second, price.spilled *= slow.second, price.line *= slow.scalar, price.call *= slow.scalar;
  price.far *= slow.far;
  return price;
}

// Lengths beyond this take hours; what they cost is not looked at closely, so that nobody waits for the answer.
constexpr std::int64_t kLongest = std::int64_t{1} << 30;

bool is_smooth(std::int64_t n) { return has_factors_up_to(n, kLargestConvolved); }

// The lengths of convolutions (runtime's chirp.cpp).
bool is_convolved(std::int64_t n) {
  for (const int p : {2, 3, 5, 7, 11, 13})
    while (n % p == 0) n /= p;
  return n == 1;
}

double level_cost(std::int64_t n) {
  if (n > kLongest) return 0.83 * std::log2(static_cast<double>(n));  // radix 16
  return lane_cost(n);
}

struct Shape {
  bool real, f32, narrow;    // narrow: vectors of 512 bits may be halved
  std::vector<double> size;  // of the complex side
  double batch, values;      // values: of all transforms
  double value_bytes;
  std::int64_t lanes;  // of a 64-byte vector
};

Shape shape_of(const Problem& problem, const DeviceTraits& traits) {
  Shape s;
  s.narrow = std::string_view(traits.isa) == "avx512";
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

// The threads of a transform, in nanoseconds.
struct Team {
  int threads;
  double meet, share;
  // What the thread with most of these equal parts of the work takes of all of it.
  double part(double units) const {
    if (threads == 1) return 1;
    return share * (std::isfinite(units) ? std::ceil(units / threads) / units : 1.0 / threads);
  }
  double all() const { return threads == 1 ? 1 : share / threads; }
};
Team team_of(int threads, const TeamPrices& prices, const Slowness& slow) {
  return {threads, threads == 1 ? 0 : prices.meet * slow.meeting, prices.share};
}

// Whether the kernels transform a long line as a matrix of short ones.
bool is_matrix(std::int64_t n, const Shape& s) {
  return n > kLongest || (is_smooth(n) && matrix_columns(n, static_cast<int>(s.narrow ? s.lanes / 2 : s.lanes)) > 0);
}

// Lines that go one by one: how many complex values each has; 0 for other transforms.
std::int64_t shared_line(const Problem& problem, const Shape& s) {
  if (problem.dim != 1) return 0;
  const bool halved = s.real && problem.n[0] % 2 == 0;
  const std::int64_t n = halved ? problem.n[0] / 2 : problem.n[0];
  if (!go_one_by_one(n, problem.batch, static_cast<int>(s.lanes))) return 0;
  if (halved) return is_matrix(n, s) ? n : 0;
  return is_matrix(n, s) || (n >= kShortLine && !has_factors_up_to(n, kLargestSummed)) ? n : 0;
}

// Whether the caller's arrays are too large for the second-level cache.
bool is_far(const Problem& problem, const Shape& s) {
  return s.values * s.value_bytes * (problem.place == Place::in ? 1 : 2) > kNear;
}

// Of values that one thread writes and another one reads, those that the first one's cache still holds.
double exchanged_values(const Shape& s, double values) { return std::min(values, kNear / s.value_bytes); }

double shared_line_ns(const Problem& problem, const Shape& s, std::int64_t length, const Team& team,
                      const RowsPrices& price) {
  const auto n = static_cast<double>(length);
  const bool smooth = is_matrix(length, s);
  // Other lengths are convolved: two transforms of at least twice the length.
  const double levels = smooth ? level_cost(length) : 0.83 * std::log2(2 * n);
  // What a line works on, which passes through the caches twice where they do not hold it.
  const double held = (smooth ? 1 : 4) * n * s.value_bytes;
  const double far = is_far(problem, s) ? price.far * n * (held <= kHeld ? 1 : 2) : 0;
  const double once = (smooth ? 1 : price.chirp) * n * (price.long_line + price.long_level * levels) +
                      (s.real ? price.real * n : 0) + price.call + far;
  if (team.threads == 1) return s.batch * once;
  // Threads take whole transforms of a batch, or share each.
  if (held <= kApart && (problem.batch % team.threads == 0 || problem.batch >= 3 * team.threads))
    return team.meet + team.part(s.batch) * s.batch * once;
  const double steps = (smooth ? 2 : 4) + (s.real ? 1 : 0);
  return s.batch * (team.all() * once + price.exchanged * exchanged_values(s, n) + team.meet * steps);
}

// What transforms dimension by dimension, or some dimensions at a time, are made of; prices are added up.
struct RowsCounts {
  double ns = 0, steps = 1;  // of the thread with most of the work
};

RowsCounts boxes_ns(const Problem& problem, const Shape& s, const FftBoxes& boxes, const Team& team,
                    const RowsPrices& price) {
  // Where each thread has whole transforms, it has a part of all vectors.
  const bool whole = boxes.column_units > 0 && are_transforms_apart(problem.batch, team.threads);
  const double row_part = team.part(whole ? s.batch : boxes.row_units),
               column_part = team.part(whole ? s.batch : std::max(1.0, boxes.column_units));
  double rows = boxes.rows * price.contiguous, columns = boxes.columns * price.strided;
  (boxes.columns > 0 ? columns : rows) += boxes.blocks * price.block;
  if (s.real) rows += boxes.rows * price.real;
  if (boxes.beyond_l1) rows += boxes.rows * price.beyond_l1, columns += boxes.columns * price.beyond_l1;
  for (std::size_t d = 0; d < s.size.size(); ++d) {
    const bool half = s.real && d == 0;
    const std::int64_t n = problem.n[d], length = half && n % 2 == 0 ? n / 2 : n;
    const bool row = static_cast<int>(d) < boxes.split;
    const double values = row ? boxes.rows : boxes.columns;
    (row ? rows : columns) +=
        values * (half ? static_cast<double>(length) / s.size[d] : 1) * price.level * level_cost(length);
  }
  const double narrow = boxes.lanes < s.lanes ? kNarrow : 1;
  return {price.call + narrow * (rows * row_part + columns * column_part), boxes.columns > 0 ? 2.0 : 1.0};
}

RowsCounts lines_ns(const Problem& problem, const Shape& s, const Team& team, const RowsPrices& price) {
  RowsCounts out;
  double units = kNever;
  out.ns = price.call;
  for (std::size_t d = 0; d < s.size.size(); ++d) {
    const std::int64_t n = problem.n[d];
    if (n == 1) continue;
    const std::int64_t length = s.real && d == 0 && n % 2 == 0 ? n / 2 : n;
    // Lines of a block are neighbours along the next dimension, or of the batch; the last vector of them may be part
    // empty.
    auto neighbours = static_cast<std::int64_t>(s.batch);
    for (std::size_t e = s.size.size(); e-- > 0;)
      if (e != d && s.size[e] > 1) neighbours = static_cast<std::int64_t>(s.size[e]);
    const std::int64_t rest = neighbours % kBlock,
                       padded = neighbours - rest + (rest + s.lanes - 1) / s.lanes * s.lanes;
    const double lines = s.values / s.size[d] * static_cast<double>(padded) / static_cast<double>(neighbours);
    const double values = lines * static_cast<double>(length);
    out.ns += values * (d == 0 ? price.contiguous + (s.real ? price.real : 0) : price.strided);
    if (is_smooth(length)) {
      out.ns += values * price.level * level_cost(length);
    } else {  // convolved
      std::int64_t whole = kLongest;
      if (length < kLongest / 2)
        for (whole = 2 * length - 1; !is_convolved(whole);) ++whole;
      out.ns += lines * std::max(static_cast<double>(whole), 2.0 * static_cast<double>(length)) * price.convolved *
                (2 * level_cost(whole) + 6);
    }
    const std::int64_t block = std::min<std::int64_t>(kBlock, padded);
    if (static_cast<double>(block) * static_cast<double>(length) * s.value_bytes > kL1)
      out.ns += values * price.beyond_l1;
    const double blocks = std::ceil(s.values / s.size[d] / static_cast<double>(std::min(neighbours, kBlock)));
    out.ns += blocks * price.block;
    units = std::min(units, std::ceil(s.values / s.size[d] / static_cast<double>(std::min(neighbours, s.lanes))));
  }
  out.ns *= team.part(units);
  out.steps = static_cast<double>(problem.dim);
  return out;
}

FftBoxes boxes_of(const Problem& problem, const Shape& s, int threads) {
  if (problem.dim == 1) return {};
  FftBoxShape shape{problem.dim, problem.n, problem.batch, static_cast<int>(s.lanes), static_cast<int>(s.value_bytes)};
  if (s.real) shape.sizes[0] = problem.n[0] / 2 + 1;
  shape.narrow = s.narrow, shape.threads = threads, shape.odd_real = s.real && problem.n[0] % 2 != 0;
  for (std::size_t d = 0; d < s.size.size(); ++d)
    if (!is_smooth(s.real && d == 0 && problem.n[d] % 2 == 0 ? problem.n[d] / 2 : problem.n[d])) return {};
  return fft_boxes(shape);
}

double rows_ns(const Problem& problem, const Shape& s, const Team& team, const RowsPrices& price) {
  if (const std::int64_t n = shared_line(problem, s); n > 0) return shared_line_ns(problem, s, n, team, price);
  const FftBoxes boxes = boxes_of(problem, s, team.threads);
  const RowsCounts counts =
      boxes.split > 0 ? boxes_ns(problem, s, boxes, team, price) : lines_ns(problem, s, team, price);
  // Between steps, threads take over what others wrote.
  const double steps = are_transforms_apart(problem.batch, team.threads) ? 1 : counts.steps;
  const double exchanged = team.threads > 1 && steps > 1 ? price.exchanged * exchanged_values(s, s.values) : 0;
  const double far = is_far(problem, s) ? price.far * s.values * steps * team.all() : 0;
  return counts.ns + exchanged + far + team.meet * steps;
}

// exchanged: the price of a value that one thread writes and another one reads.
double along_ns(const Problem& problem, const Shape& s, const Team& team, const AlongPrices& price, double exchanged) {
  const std::int64_t length = along_length(problem);
  if (length == 0) return kNever;
  const AlongPasses passes = along_passes(length, problem.precision);
  double value = price.value + price.pass * passes.cost + (s.real ? price.real : 0);
  const double bytes = static_cast<double>(length) * s.value_bytes;
  const double areas = bytes * (passes.radices.size() > 2 ? 2 : 1),
               arrays = bytes * (problem.place == Place::in ? 1 : 2);
  if (areas > kAlongL1) value += price.beyond;
  if (areas + arrays > kAlongL2) value += price.spilled;
  if (is_far(problem, s)) value += price.far;
  const double line = price.line + value * static_cast<double>(length);
  if (problem.batch < team.threads) {
    const int parts = along_areas(length, problem.precision, team.threads);
    if (parts > 1)
      return price.call +
             s.batch * (team.share * line / parts + exchanged * exchanged_values(s, static_cast<double>(length)) +
                        team.meet * (s.real ? 3 : 2));
  }
  return price.call + team.part(s.batch) * s.batch * line + team.meet;
}

// How many values at this distance in bytes a first-level cache of 64 sets of 12 lines of 64 bytes holds.
std::int64_t held_at_stride(std::int64_t stride) {
  constexpr std::int64_t sets = 64, ways = 12, period = sets * 64;
  return ways * std::min(sets, period / std::gcd(stride, period));
}

double library_ns(const Problem& problem, const Shape& s, const Team& team, const LibraryPrices& price) {
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
    if (rest > 1 && s.real && d == 0 && n % 2 != 0) value *= kOddRealPrime;
    const bool straight = n <= 16 || n == 20 || n == 25 || n == 32 || n == 64;
    if (!straight) ns += s.values / s.size[d] * price.line;
    if (straight && problem.dim > 1) value *= price.several;
    if (!straight && n > held_at_stride(static_cast<std::int64_t>(std::fmod(stride, 1 << 20)))) value += price.conflict;
    ns += s.values * value;
  }
  const bool odd_real = s.real && problem.n[0] % 2 != 0;
  if (s.real) ns += s.values * (price.real + (odd_real ? price.odd_real : 0));
  if (is_far(problem, s)) ns += s.values * price.far;
  if (team.threads == 1) return ns;
  // Its estimate for several threads takes up to ten times as long for odd real lengths of several dimensions.
  if (odd_real && problem.dim > 1) return kNever;
  const bool apart = problem.dim == 1 || s.batch >= team.threads;
  if (!apart && problem.dim == 2 && std::fmod(s.size[0] * s.value_bytes, kLineBytes * team.threads) != 0)
    ns += s.values / s.size[0] * kLineOfTwo * team.threads;
  // c2r of several dimensions out of place destroys its input, which is therefore copied.
  const bool copied = problem.fft_type == FftType::c2r && problem.dim > 1 && problem.place == Place::out;
  return price.shared * ns / team.threads + (apart ? 0 : price.exchanged * exchanged_values(s, s.values)) +
         team.meet * (copied ? 2 : 1);
}

}  // namespace

FftTimes fft_times(const Problem& problem, int threads, const DeviceTraits& traits, const FftPrices& prices) {
  const Shape s = shape_of(problem, traits);
  const Slowness slow = slowness(traits, problem.precision, threads, *prices.machine);
  const Team team = team_of(threads, prices.team, slow);
  return {1e-9 * rows_ns(problem, s, team, prices_here(prices.rows, slow)),
          1e-9 * library_ns(problem, s, team, prices_here(prices.library, slow)),
          1e-9 * along_ns(problem, s, team, prices_here(prices.along, slow), prices_here(prices.rows, slow).exchanged)};
}

}  // namespace fourtune::generator
