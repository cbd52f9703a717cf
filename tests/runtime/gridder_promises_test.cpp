// Promises of the gridder beyond right sums: adjointness, reproducible grids, batches, errors that name the bad point.
#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <limits>

#include "fourtune/status.h"
#include "runtime/backends/cpu/gridder/gridder.h"
#include "tests/runtime/gridder_reference.h"

namespace fourtune::runtime::cpu {
namespace {

template <class T>
void adjointness(int dim, const Family& f) {
  GridderSpec spec = make_spec(dim, small_grid(dim), 4, sizeof(std::complex<T>));
  spec.sort.family = f.sort;
  spec.sort.copy = f.copy;
  spec.spread = {f.spread, 100, f.add};
  spec.interp = {f.interp, 100};
  spec.accuracy = 1e-3;  // adjoint to rounding even if the window itself is coarse
  const auto points = make_points<T>(Kind::far, dim, 700, 0, 13);
  const std::int64_t m = points.size(), n = spec.grid.elements;
  auto gridder = make_gridder<T>(spec);
  gridder->set_points(m, points.data(0, dim), points.data(1, dim), points.data(2, dim), radians());
  const auto values = random_values<T>(m, 1), cells = random_values<T>(n, 2);
  std::vector<std::complex<T>> grid(n), out(m);
  gridder->spread(values.data(), m, nullptr, grid.data(), n, 1);
  gridder->interpolate(cells.data(), n, nullptr, out.data(), m, 1);
  std::complex<double> left = 0, right = 0;
  double norm = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    left += std::complex<double>(grid[i]) * std::conj(std::complex<double>(cells[i]));
    norm += std::abs(grid[i]) * std::abs(cells[i]);
  }
  for (std::int64_t j = 0; j < m; ++j)
    right += std::complex<double>(values[j]) * std::conj(std::complex<double>(out[j]));
  EXPECT_LT(std::abs(left - right) / norm, sizeof(T) == 4 ? 1e-6 : 1e-15) << f.name << " " << dim << "D";
}
TEST(GridderPromises, SpreadAndInterpolateAreAdjointToRounding) {
  for (int dim = 1; dim <= 3; ++dim) {
    for (const Family& f : kFamilies) {
      adjointness<float>(dim, f);
      adjointness<double>(dim, f);
    }
  }
}

TEST(GridderPromises, DeterministicGridsAreBitIdenticalForAnyThreadCount) {
  for (const auto family :
       {SpreadFamily::subgrid, SpreadFamily::atomic, SpreadFamily::colour_index, SpreadFamily::colour_list}) {
    for (const Kind kind : {Kind::far, Kind::clustered}) {
      const auto points = make_points<float>(kind, 3, 20000, 0, 5);
      const auto values = random_values<float>(points.size(), 1);
      std::vector<std::complex<float>> first;
      for (const int threads : {1, 2, 3}) {
        GridderSpec spec = make_spec(3, small_grid(3), 4, 8);
        spec.spread = {family, 128, AddRule::lock};
        spec.deterministic = true;
        spec.threads = threads;
        auto gridder = make_gridder<float>(spec);
        gridder->set_points(points.size(), points.data(0, 3), points.data(1, 3), points.data(2, 3), radians());
        std::vector<std::complex<float>> grid(spec.grid.elements);
        gridder->spread(values.data(), 0, nullptr, grid.data(), 0, 1);
        if (threads == 1) first = grid;
        EXPECT_TRUE(grid == first) << threads << " threads, family " << static_cast<int>(family);
      }
    }
  }
}

// A direct family would add all points of one place to the same few cells, with the rounding of one long sum.
TEST(GridderPromises, CrowdedPointsAreSpreadByPrivateTilesWhateverTheFamily) {
  const auto scattered = make_points<float>(Kind::interior, 2, 3000, 0, 5);
  auto crowded = scattered;
  for (auto& axis : crowded.c) std::fill(axis.begin(), axis.end(), 1.0f);
  const std::int64_t m = scattered.size();
  const auto values = random_values<float>(m, 1);
  const auto grid_of = [&](SpreadFamily family, std::initializer_list<const Points<float>*> turns) {
    GridderSpec spec = make_spec(2, {400, 300, 1}, 4, sizeof(std::complex<float>));
    spec.threads = 1;
    spec.longest_sum = 500;
    spec.spread = {family, 8192, AddRule::colour};
    auto gridder = make_gridder<float>(spec);
    std::vector<std::complex<float>> grid(spec.grid.elements);
    for (const Points<float>* points : turns) {
      gridder->set_points(m, points->data(0, 2), points->data(1, 2), points->data(2, 2), radians());
      gridder->spread(values.data(), 0, nullptr, grid.data(), 0, 1);
    }
    return grid;
  };
  const auto by_tiles = grid_of(SpreadFamily::subgrid, {&crowded});
  for (const auto family : {SpreadFamily::colour_index, SpreadFamily::atomic}) {
    EXPECT_TRUE(grid_of(family, {&crowded}) == by_tiles) << static_cast<int>(family);
    EXPECT_TRUE(grid_of(family, {&scattered, &crowded}) == by_tiles) << static_cast<int>(family);
    EXPECT_TRUE(grid_of(family, {&crowded, &scattered}) == grid_of(family, {&scattered})) << static_cast<int>(family);
  }
}

// Most points of this list lie alone, which would take all of them straight to the grid; the crowd's sums must be
// short.
TEST(GridderPromises, ACrowdAmongScatteredPointsKeepsItsPrivateTile) {
  const std::int64_t crowd = 2000, others = 2000;
  Points<float> mixed, alone;
  for (std::int64_t j = 0; j < crowd + others; ++j) {
    const auto r = static_cast<float>(j % 1999) / 1999, q = static_cast<float>(j % 53) / 53;
    mixed.c[0].push_back(j < crowd ? 1.0f : -0.5f - 2 * r), mixed.c[1].push_back(j < crowd ? 1.0f : -3 + 5 * q);
  }
  for (int d = 0; d < 2; ++d) alone.c[d].assign(mixed.c[d].begin(), mixed.c[d].begin() + crowd);
  const auto values = random_values<float>(mixed.size(), 1);
  const auto grid_of = [&](const Points<float>& points, std::int64_t longest) {
    GridderSpec spec = make_spec(2, {400, 300, 1}, 4, sizeof(std::complex<float>));
    spec.threads = 1;
    spec.longest_sum = longest;
    spec.spread = {SpreadFamily::subgrid, 8192, AddRule::lock};
    spec.grid = halo_shape(2, spec.grid.fine, spec.window.width, sizeof(std::complex<float>));
    auto gridder = make_gridder<float>(spec);
    gridder->set_points(points.size(), points.data(0, 2), points.data(1, 2), points.data(2, 2), radians());
    std::vector<std::complex<float>> grid(spec.grid.elements);
    gridder->spread(values.data(), 0, nullptr, grid.data(), 0, 1);
    return grid;
  };
  const auto got = grid_of(mixed, 500), want = grid_of(alone, 500);
  EXPECT_NE(want, grid_of(alone, 5000)) << "the length of sums shows in the bits";
  for (std::size_t i = 0; i < want.size(); ++i) {
    if (want[i] == std::complex<float>()) continue;
    EXPECT_EQ(got[i], want[i]) << i;
  }
}

// Addresses ahead of the last points, of none and of many times the points there are.
TEST(GridderPromises, ThePrefetchDistanceChangesNoBit) {
  for (const auto family : {SpreadFamily::subgrid, SpreadFamily::colour_index})
    for (const auto interp : {InterpFamily::tile, InterpFamily::direct})
      for (const bool copy : {true, false}) {
        const auto points = make_points<float>(Kind::clustered, 3, 1000, 0, 5);
        const std::int64_t m = points.size();
        const auto values = random_values<float>(m, 1);
        std::vector<std::complex<float>> first, first_out;
        for (const std::optional<int> distance : {std::optional<int>(), {0}, {1}, {64}, {100}, {4096}}) {
          GridderSpec spec = make_spec(3, small_grid(3), 4, 8);
          spec.threads = 1;  // several add in any order
          spec.sort.copy = copy;
          spec.spread = {family, 128, AddRule::lock, distance};
          spec.interp = {interp, 128, distance};
          auto gridder = make_gridder<float>(spec);
          gridder->set_points(m, points.data(0, 3), points.data(1, 3), points.data(2, 3), radians());
          std::vector<std::complex<float>> grid(spec.grid.elements), out(m);
          gridder->spread(values.data(), 0, nullptr, grid.data(), 0, 1);
          gridder->interpolate(grid.data(), 0, nullptr, out.data(), 0, 1);
          if (first.empty()) first = grid, first_out = out;
          EXPECT_TRUE(grid == first && out == first_out) << distance.value_or(-1) << " " << static_cast<int>(family);
        }
      }
}

TEST(GridderPromises, BatchEqualsALoopOfSingleTransforms) {
  for (int dim = 1; dim <= 3; ++dim) {
    for (const Family& f : kFamilies) {
      GridderSpec spec = make_spec(dim, small_grid(dim), 5, 8);
      spec.sort.family = f.sort;
      spec.sort.copy = f.copy;
      spec.spread = {f.spread, 3000, f.add};
      spec.interp = {f.interp, 3000};
      spec.threads = 1;
      const auto points = make_points<float>(Kind::far, dim, 12000, 0, 3);
      const std::int64_t m = points.size(), n = spec.grid.elements, batch = 3, md = m + 5, nd = n + 8;
      auto gridder = make_gridder<float>(spec);
      gridder->set_points(m, points.data(0, dim), points.data(1, dim), points.data(2, dim), radians());
      const auto values = random_values<float>(md * batch, 1), cells = random_values<float>(nd * batch, 2);
      std::vector<std::complex<float>> grids(nd * batch), one(n), outs(md * batch), out(m);
      gridder->spread(values.data(), md, nullptr, grids.data(), nd, batch);
      gridder->interpolate(cells.data(), nd, nullptr, outs.data(), md, batch);
      for (std::int64_t b = 0; b < batch; ++b) {
        gridder->spread(values.data() + b * md, 0, nullptr, one.data(), 0, 1);
        const std::vector<std::complex<double>> want(one.begin(), one.end());
        EXPECT_LT(relative_error(grids.data() + b * nd, want), 1e-6) << f.name << " " << dim << "D";
        gridder->interpolate(cells.data() + b * nd, 0, nullptr, out.data(), 0, 1);
        const std::vector<std::complex<double>> values_want(out.begin(), out.end());
        EXPECT_LT(relative_error(outs.data() + b * md, values_want), 1e-6) << f.name << " " << dim << "D";
      }
    }
  }
}

template <class T>
void first_bad_point(int dim, int bad_dimension, T bad_value, const Family& f) {
  GridderSpec spec = make_spec(dim, small_grid(dim), 4, sizeof(std::complex<T>));
  spec.sort.family = f.sort;
  spec.sort.copy = f.copy;
  spec.spread.family = f.spread;
  auto points = make_points<T>(Kind::far, dim, 20000, 0, 3);
  points.c[bad_dimension][12345] = bad_value;
  points.c[0][17000] = std::numeric_limits<T>::quiet_NaN();
  auto gridder = make_gridder<T>(spec);
  try {
    gridder->set_points(points.size(), points.data(0, dim), points.data(1, dim), points.data(2, dim), radians());
    FAIL() << "no error";
  } catch (const Error& e) {
    EXPECT_EQ(e.status(), Status::invalid_point);
    EXPECT_NE(std::string(e.what()).find("12345"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find(fmt::format("coordinate {}", "xyz"[bad_dimension])), std::string::npos)
        << e.what();
  }
  // The gridder remains usable.
  const auto good = make_points<T>(Kind::far, dim, 10, 0, 3);
  gridder->set_points(good.size(), good.data(0, dim), good.data(1, dim), good.data(2, dim), radians());
  const auto values = random_values<T>(good.size(), 1);
  std::vector<std::complex<T>> grid(spec.grid.elements);
  gridder->spread(values.data(), 0, nullptr, grid.data(), 0, 1);
  EXPECT_LT(relative_error(grid.data(), Reference<T>(spec, good).spread(values.data(), nullptr)), 1e-5);
}
TEST(GridderPromises, TheFirstBadPointAndItsDimensionAreNamed) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  for (const Family& f : kFamilies) {
    for (int d = 0; d < 3; ++d) {
      first_bad_point<double>(3, d, d == 1 ? inf : -inf, f);
      first_bad_point<float>(3, d, std::numeric_limits<float>::quiet_NaN(), f);
    }
    first_bad_point<float>(1, 0, std::numeric_limits<float>::infinity(), f);
  }
}

TEST(GridderPromises, CoordinatesMayBeFreedAfterSetPoints) {
  for (const Family& f : kFamilies) {
    GridderSpec spec = make_spec(2, small_grid(2), 4, 16);
    spec.sort.family = f.sort;
    spec.sort.copy = f.copy;
    spec.spread.family = f.spread;
    auto points = make_points<double>(Kind::far, 2, 500, 0, 3);
    const Reference<double> reference(spec, points);
    auto gridder = make_gridder<double>(spec);
    gridder->set_points(points.size(), points.data(0, 2), points.data(1, 2), nullptr, radians());
    for (auto& c : points.c) std::fill(c.begin(), c.end(), 1e300);
    const auto values = random_values<double>(500, 1);
    std::vector<std::complex<double>> grid(spec.grid.elements);
    gridder->spread(values.data(), 0, nullptr, grid.data(), 0, 1);
    EXPECT_LT(relative_error(grid.data(), reference.spread(values.data(), nullptr)), 1e-12) << f.name;
  }
}

TEST(GridderPromises, PaddedShapesKeepRowsApartAndCheckOverflow) {
  for (const std::int64_t bytes : {8, 16}) {
    const GridShape g = padded_shape(3, {512, 512, 416}, bytes);
    EXPECT_EQ(g.stride[0], 1);
    EXPECT_GE(g.stride[1], 512);
    EXPECT_LT(g.stride[1], 512 + 64);
    EXPECT_EQ(g.stride[1] * bytes / 64 % 2, 1);
    EXPECT_EQ(g.stride[2] * bytes / 64 % 2, 1);
    EXPECT_GE(g.elements, g.stride[2] * 416);
  }
  for (std::int64_t n = 1; n < 700; ++n)
    for (const std::int64_t bytes : {8, 16}) {
      const GridShape g = padded_shape(3, {n, 3, 2}, bytes);
      ASSERT_GE(g.stride[1], n) << bytes;
      ASSERT_GE(g.stride[2], 2 * g.stride[1] + n) << n << " of " << bytes;
      ASSERT_GE(g.elements, g.stride[2] + 2 * g.stride[1] + n) << n << " of " << bytes;
    }
  EXPECT_EQ(padded_shape(1, {1, 1, 1}, 16).elements, 1);
  EXPECT_THROW(padded_shape(3, {std::int64_t{1} << 31, std::int64_t{1} << 31, 8}, 8), Error);
}

TEST(GridderPromises, CombinationsThatNothingCoversAreRefused) {
  GridderSpec spec = make_spec(2, small_grid(2), 17, 16);
  EXPECT_THROW(make_gridder<double>(spec), Error);
  spec = make_spec(2, small_grid(2), 4, 16);
  spec.threads = 0;
  EXPECT_THROW(make_gridder<double>(spec), Error);
  spec = make_spec(2, small_grid(2), 4, 16);
  spec.grid.fine[1] = std::int64_t{1} << 40;
  EXPECT_THROW(make_gridder<double>(spec), Error);
}

}  // namespace
}  // namespace fourtune::runtime::cpu
