#include "runtime/backends/cpu/nufft/type3_parameters.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "runtime/backends/cpu/base/team.h"

namespace fourtune::runtime::cpu {
namespace {

struct Range {
  double low = 0, high = 0;
};

// The least and greatest of count >= 1 coordinates and whether all are finite; uses lanes so that compilers vectorise.
template <class T>
bool find_range(const T* x, std::int64_t count, Range& range) {
  constexpr int kLanes = 64 / sizeof(T);
  T low[kLanes], high[kLanes], zero[kLanes] = {};  // x - x is 0 only for finite numbers
  std::fill_n(low, kLanes, x[0]);
  std::fill_n(high, kLanes, x[0]);
  const auto look = [&](int lane, T value) {
    low[lane] = value < low[lane] ? value : low[lane];
    high[lane] = high[lane] < value ? value : high[lane];
    zero[lane] += value - value;  // NOLINT(misc-redundant-expression): not 0 for infinity and NaN
  };
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    for (int lane = 0; lane < kLanes; ++lane) look(lane, x[i + lane]);
  for (; i < count; ++i) look(0, x[i]);
  range.low = *std::min_element(low, low + kLanes);
  range.high = *std::max_element(high, high + kLanes);
  return std::all_of(zero, zero + kLanes, [](T z) { return z == 0; });
}

}  // namespace

template <class T>
Interval interval(const T* coordinates, std::int64_t count, bool trust, const char* what, int threads,
                  const Promise* promise) {
  if (count == 0) return {};
  constexpr std::int64_t kPiece = 16384;
  struct alignas(64) Found {  // the result of one worker
    Range range;
    bool finite = true;
  };
  std::vector<Found> found(team_size(threads), {{coordinates[0], coordinates[0]}, true});
  const auto look = [&](std::int64_t piece, int worker) {
    const std::int64_t i = piece * kPiece;
    Range range;
    Found& own = found[worker];
    own.finite = find_range(coordinates + i, std::min(kPiece, count - i), range) && own.finite;
    own.range = {std::min(own.range.low, range.low), std::max(own.range.high, range.high)};
  };
  parallel_for(static_cast<int>(found.size()), (count + kPiece - 1) / kPiece, look);
  double low = coordinates[0], high = coordinates[0];
  bool finite = true;
  for (const Found& part : found) {
    low = std::min(low, part.range.low);
    high = std::max(high, part.range.high);
    finite = finite && part.finite;
  }
  if (!finite && !trust) {
    const std::int64_t bad =
        std::find_if(coordinates, coordinates + count, [](T x) { return !std::isfinite(x); }) - coordinates;
    throw Error(Status::invalid_point, fmt::format("{}[{}] is {}; coordinates are finite numbers", what, bad,
                                                   static_cast<double>(coordinates[bad])));
  }
  if (promise && !trust && (low < promise->low || high > promise->high))
    throw Error(Status::contradiction, fmt::format("{} lies from {} to {}, but set_bounds says {} to {}", what, low,
                                                   high, promise->low, promise->high));
  return generator::type3_interval(low, high);
}
template Interval interval<float>(const float*, std::int64_t, bool, const char*, int, const Promise*);
template Interval interval<double>(const double*, std::int64_t, bool, const char*, int, const Promise*);

}  // namespace fourtune::runtime::cpu
