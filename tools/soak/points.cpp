#include "tools/soak/points.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

namespace fourtune::tools {
namespace {

using tuner::PointSet;
using tuner::random_bits;
using tuner::random_unit;

constexpr double kTurn = 2 * std::numbers::pi;

template <class T>
void move_far(PointSet<T>& points, std::uint64_t seed) {
  // As far as single precision can still distinguish points of a fine grid at all, and double precision easily.
  const double turns = sizeof(T) == 4 ? 1e3 : 1e7;
  for (int d = 0; d < points.dim; ++d)
    for (std::size_t j = 0; j < points.x[static_cast<std::size_t>(d)].size(); ++j) {
      T& x = points.x[static_cast<std::size_t>(d)][j];
      const double unit = 2 * random_unit(seed, 70 + static_cast<std::uint64_t>(d), j) - 1;
      x = static_cast<T>(static_cast<double>(x) + kTurn * std::round(turns * unit));
    }
}

template <class T>
void fold(PointSet<T>& points, std::uint64_t seed) {
  for (int d = 0; d < points.dim; ++d)
    for (std::size_t j = 0; j < points.x[static_cast<std::size_t>(d)].size(); ++j) {
      T& x = points.x[static_cast<std::size_t>(d)][j];
      const std::uint64_t which = random_bits(seed, 73 + static_cast<std::uint64_t>(d), j) % 3;
      x = static_cast<T>(static_cast<double>(x) + kTurn * (static_cast<double>(which) - 1));
    }
}

// Repeats points in runs of length 2, of about the square root of their number, or of all points.
template <class T>
void duplicate(PointSet<T>& points, std::size_t first, std::uint64_t seed) {
  const auto count = static_cast<std::size_t>(points.count());
  if (count <= first + 1) return;
  const auto root = static_cast<std::size_t>(std::sqrt(static_cast<double>(count)));
  const std::size_t run =
      std::array<std::size_t, 3>{2, std::max<std::size_t>(2, root), count}[random_bits(seed, 76, 0) % 3];
  for (std::size_t j = first; j < count; ++j)
    for (int d = 0; d < points.dim; ++d) {
      auto& x = points.x[static_cast<std::size_t>(d)];
      x[j] = x[j - (j - first) % run];
    }
}

// Moves points onto cells of the grids that sizes n lead to; every seventh goes to a place where comparisons may fail.
template <class T>
void put_on_borders(PointSet<T>& points, const Problem& problem, std::size_t first, std::uint64_t seed) {
  constexpr T pi = std::numbers::pi_v<T>, tiny = std::numeric_limits<T>::denorm_min();
  const T odd[] = {T(0), -T(0), pi,     -pi,     std::nextafter(pi, T(4)), std::nextafter(-pi, T(-4)), 2 * pi,
                   tiny, -tiny, pi / 2, -pi / 2, std::nextafter(pi, T(0)), std::nextafter(-pi, T(0)),  -2 * pi};
  for (int d = 0; d < points.dim; ++d) {
    const double grids[] = {1, 1.25, 1.5, 2};
    const double fine =
        grids[random_bits(seed, 77, 0) % 4] * static_cast<double>(problem.n[static_cast<std::size_t>(d)]);
    auto& x = points.x[static_cast<std::size_t>(d)];
    for (std::size_t j = first; j < x.size(); ++j) {
      const std::uint64_t bits = random_bits(seed, 78 + static_cast<std::uint64_t>(d), j);
      const double cell = std::round(static_cast<double>(x[j]) / kTurn * fine);
      x[j] = bits % 7 == 0 ? odd[bits / 7 % std::size(odd)] : static_cast<T>(kTurn * cell / fine);
    }
  }
}

// Type 3: moves coordinates to few lines within the half-widths.
template <class T>
void put_on_lines(PointSet<T>& points, std::size_t first) {
  for (int d = 0; d < points.dim; ++d) {
    auto& x = points.x[static_cast<std::size_t>(d)];
    const double half = x.empty() ? 0
                                  : std::abs(static_cast<double>(*std::max_element(
                                        x.begin(), x.end(), [](T a, T b) { return std::abs(a) < std::abs(b); })));
    if (!(half > 0)) continue;
    for (std::size_t j = first; j < x.size(); ++j)
      x[j] = static_cast<T>(std::trunc(static_cast<double>(x[j]) / half * 16) / 16 * half);
  }
}

template <class T>
void move_off(PointSet<T>& points, std::uint64_t seed) {
  for (int d = 0; d < points.dim; ++d) {
    const double by = 40 * (2 * random_unit(seed, 81, static_cast<std::uint64_t>(d)) - 1);
    for (T& x : points.x[static_cast<std::size_t>(d)]) x = static_cast<T>(static_cast<double>(x) + by);
  }
}

template <class T>
void scatter_type3(CasePoints<T>& points, Scatter scatter, std::uint64_t seed) {
  constexpr std::size_t corners = 2;  // they define the extent
  if (scatter == Scatter::far) move_off(points.sources, seed), move_off(points.targets, seed + 1);
  if (scatter == Scatter::duplicated)
    duplicate(points.sources, corners, seed), duplicate(points.targets, corners, seed + 1);
  if (scatter == Scatter::borders) put_on_lines(points.sources, corners), put_on_lines(points.targets, corners);
}

}  // namespace

template <class T>
CasePoints<T> make_case_points(const SoakCase& one, std::int64_t transform) {
  CasePoints<T> points;
  const std::uint64_t seed = one.seed + (one.distinct ? 1000003 * static_cast<std::uint64_t>(transform) : 0);
  points.sources = tuner::make_points<T>(one.problem, seed);
  if (one.problem.type == 3) {
    points.targets = tuner::make_targets<T>(one.problem, seed + 1);
    scatter_type3(points, one.scatter, seed);
    return points;
  }
  if (one.scatter == Scatter::far) move_far(points.sources, seed);
  if (one.scatter == Scatter::folded) fold(points.sources, seed);
  if (one.scatter == Scatter::duplicated) duplicate(points.sources, 0, seed);
  if (one.scatter == Scatter::borders) put_on_borders(points.sources, one.problem, 0, seed);
  return points;
}

template struct CasePoints<float>;
template struct CasePoints<double>;
template CasePoints<float> make_case_points<float>(const SoakCase&, std::int64_t);
template CasePoints<double> make_case_points<double>(const SoakCase&, std::int64_t);

}  // namespace fourtune::tools
