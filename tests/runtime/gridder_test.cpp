// Compares the gridder's sums with direct ones: every family, width, window and shape of tile.
#include "runtime/backends/cpu/gridder/gridder.h"

#include <gtest/gtest.h>

#include "runtime/backends/cpu/base/buffer.h"
#include "tests/runtime/gridder_reference.h"

namespace fourtune::runtime::cpu {
namespace {

template <class T>
void every_family(int dim) {
  for (const Family& f : kFamilies) {
    GridderSpec spec = make_spec(dim, small_grid(dim), dim == 3 ? 5 : 6, sizeof(std::complex<T>));
    spec.sort.family = f.sort;
    spec.sort.copy = f.copy;
    spec.spread = {f.spread, 40, f.add};
    spec.interp = {f.interp, 50};
    for (const Kind kind : kKinds) {
      const auto points = make_points<T>(kind, dim, 150, spec.grid.fine[0], 11);
      expect_right<T>(spec, points, bound<T>(), fmt::format("{} {}D kind {}", f.name, dim, static_cast<int>(kind)));
    }
  }
}

TEST(Gridder, EveryFamilyMatchesDirectSumsIn1D) {
  every_family<float>(1);
  every_family<double>(1);
}
TEST(Gridder, EveryFamilyMatchesDirectSumsIn2D) {
  every_family<float>(2);
  every_family<double>(2);
}
TEST(Gridder, EveryFamilyMatchesDirectSumsIn3D) {
  every_family<float>(3);
  every_family<double>(3);
}

template <class T>
void every_width() {
  for (int dim = 1; dim <= 3; ++dim) {
    for (int w = generator::kMinWidth; w <= generator::kMaxWidth; ++w) {
      for (const auto interp : {InterpFamily::tile, InterpFamily::direct}) {
        GridderSpec spec = make_spec(dim, small_grid(dim), w, sizeof(std::complex<T>));
        spec.interp.family = interp;
        if (interp == InterpFamily::direct) spec.spread.family = SpreadFamily::colour_index;
        const auto points = make_points<T>(Kind::far, dim, 60, 0, static_cast<unsigned>(w));
        expect_right<T>(spec, points, 4 * bound<T>(), fmt::format("{}D width {}", dim, w));
      }
    }
  }
}
TEST(Gridder, EveryWidthMatchesDirectSums) {
  every_width<float>();
  every_width<double>();
}

TEST(Gridder, EveryWindowMatchesDirectSums) {
  for (const auto kind :
       {WindowKind::exp_semicircle, WindowKind::kaiser_bessel, WindowKind::pswf, WindowKind::gaussian}) {
    GridderSpec spec = make_spec(2, small_grid(2), 7, 16);
    spec.window.kind = kind;
    // The ends of the semicircle are square roots, which polynomials approximate slowly.
    const double tolerance = kind == WindowKind::exp_semicircle ? 1e-5 : 1e-13;
    expect_right<double>(spec, make_points<double>(Kind::far, 2, 100, 0, 3), tolerance, generator::to_string(kind));
  }
}

TEST(Gridder, WideGaussiansMatchDirectSums) {
  for (const int w : {17, 33, generator::kMaxGaussianWidth}) {
    GridderSpec spec = make_spec(2, {80, 72, 1}, w, 16);
    spec.window.kind = WindowKind::gaussian;
    spec.beta = 20;
    for (const auto family : {SpreadFamily::subgrid, SpreadFamily::atomic, SpreadFamily::colour_list}) {
      spec.spread.family = family;
      expect_right<double>(spec, make_points<double>(Kind::far, 2, 40, 0, 5), 1e-13, fmt::format("width {}", w));
    }
  }
}

TEST(Gridder, LookUpWindowsConvergeWithTheTable) {
  double last = 1;
  for (const int table : {64, 256, 1024}) {
    GridderSpec spec = make_spec(2, small_grid(2), 6, 16);
    spec.window.table = table;
    const auto points = make_points<double>(Kind::far, 2, 200, 0, 3);
    const auto values = random_values<double>(points.size(), 1);
    std::vector<std::complex<double>> grid(spec.grid.elements);
    auto gridder = make_gridder<double>(spec);
    gridder->set_points(points.size(), points.data(0, 2), points.data(1, 2), nullptr, radians());
    gridder->spread(values.data(), 0, nullptr, grid.data(), 0, 1);
    const double error = relative_error(grid.data(), Reference<double>(spec, points).spread(values.data(), nullptr));
    EXPECT_LT(error, last / 10);  // second order: 16 times better each time
    last = error;
  }
  EXPECT_LT(last, 1e-6);
}

// Windows wider than the grid wrap around several times.
TEST(Gridder, GridsSmallerThanTheWindowWrapSeveralTimes) {
  const std::array<std::int64_t, 3> grids[] = {{1, 1, 1}, {2, 3, 1}, {5, 1, 4}, {3, 40, 2}, {7, 6, 5}};
  for (const auto& fine : grids) {
    for (int dim = 1; dim <= 3; ++dim) {
      for (const Family& f : kFamilies) {
        GridderSpec spec = make_spec(dim, fine, 6, 16);
        spec.sort.family = f.sort;
        spec.sort.copy = f.copy;
        spec.spread = {f.spread, 40, f.add};
        spec.interp = {f.interp, 50};
        expect_right<double>(spec, make_points<double>(Kind::far, dim, 30, 0, 3), 1e-13,
                             fmt::format("{} {}D {}x{}x{}", f.name, dim, fine[0], fine[1], fine[2]));
      }
    }
  }
}

// Shapes that often break indexing: tiles larger than the grid, of one cell, narrower than the window, a small last
// tile.
TEST(Gridder, AnyTileShapeGivesTheSameSums) {
  const std::array<int, 3> tiles[] = {{1, 1, 1}, {256, 256, 256}, {7, 3, 26}, {29, 26, 2}, {4, 30, 13}};
  for (const auto& tile : tiles) {
    for (const auto add : {AddRule::lock, AddRule::colour}) {
      GridderSpec spec = make_spec(3, small_grid(3), 4, 8);
      spec.sort.tile = tile;
      spec.spread = {SpreadFamily::subgrid, 16, add};
      expect_right<float>(spec, make_points<float>(Kind::far, 3, 300, 0, 3), bound<float>(),
                          fmt::format("tile {}x{}x{}", tile[0], tile[1], tile[2]));
      spec.spread.family = SpreadFamily::colour_index;
      expect_right<float>(spec, make_points<float>(Kind::far, 3, 300, 0, 3), bound<float>(),
                          fmt::format("coloured tile {}x{}x{}", tile[0], tile[1], tile[2]));
    }
  }
}

TEST(Gridder, NoDigitIsLostOnLongGrids) {
  constexpr std::int64_t fine = 4000000;
  GridderSpec spec = make_spec(1, {fine, 1, 1}, 8, 16);
  spec.sort.tile = {256, 1, 1};
  expect_right<double>(spec, make_points<double>(Kind::interior, 1, 300, 0, 3), 1e-14, "f64");
  GridderSpec single = make_spec(1, {fine, 1, 1}, 5, 8);
  single.sort.tile = {256, 1, 1};
  expect_right<float>(single, make_points<float>(Kind::interior, 1, 300, 0, 3), 3e-7, "f32");
}

TEST(Gridder, CentreAndFactorAreExact) {
  GridderSpec spec = make_spec(2, {5000, 300, 1}, 7, 16);
  const PointMap map{{0.1, -3.7, 0}, {0.123, 0.0456, 0}};
  const auto points = make_points<double>(Kind::clustered, 2, 100, 0, 3);
  const auto values = random_values<double>(points.size(), 1);
  std::vector<std::complex<double>> grid(spec.grid.elements);
  auto gridder = make_gridder<double>(spec);
  gridder->set_points(points.size(), points.data(0, 2), points.data(1, 2), nullptr, map);
  gridder->spread(values.data(), 0, nullptr, grid.data(), 0, 1);
  EXPECT_LT(relative_error(grid.data(), Reference<double>(spec, points, map).spread(values.data(), nullptr)), 1e-14);
}

// Directly from and to the grid, rows are read and written by whole lines: cells outside the window must not count, and
// must not change, wherever a window starts within a line.
template <class T>
void check_direct_window(int dim, int width, std::int64_t cells) {
  SCOPED_TRACE(fmt::format("dim {} width {} cells {} bytes {}", dim, width, cells, sizeof(T)));
  const std::array<std::int64_t, 3> fine{cells, dim > 1 ? 20 : 1, dim > 2 ? 18 : 1};
  GridderSpec spec = make_spec(dim, fine, width, 2 * sizeof(T));
  spec.sort.tile = {16, 8, 8};
  spec.sort.local = false;
  spec.spread.family = SpreadFamily::colour_index;
  spec.interp.family = InterpFamily::direct;
  const auto gridder = make_gridder<T>(spec);
  const generator::Window window(spec.window.kind, width, spec.window.sigma);
  for (int start = 0; start < 9; ++start) {  // a line has 4 or 8 cells
    T x[3];
    std::vector<Tap> along[3];
    for (int d = 0; d < 3; ++d) {
      const double cell = d == 0 ? start + 0.3 + 0.5 * width + 8 : static_cast<double>(fine[d]) / 2 + 0.2;
      x[d] = static_cast<T>(2 * std::numbers::pi * cell / static_cast<double>(fine[d]));
      along[d] = d < dim ? taps(x[d], 0, Quad{kInverseTwoPi} + Quad{kInverseTwoPiLow}, fine[d], window)
                         : std::vector<Tap>{{0, 1.0}};
    }
    gridder->set_points(1, x, dim > 1 ? x + 1 : nullptr, dim > 2 ? x + 2 : nullptr, radians());
    Buffer<std::complex<T>> grid(spec.grid.elements);
    std::fill_n(grid.data(), grid.size(), std::complex<T>(std::numeric_limits<T>::quiet_NaN(), 0));
    double sum = 0;
    std::vector<double> expected(grid.size());
    for (const Tap& a : along[0])
      for (const Tap& b : along[1])
        for (const Tap& c : along[2]) {
          const std::int64_t at = a.cell + b.cell * spec.grid.stride[1] + c.cell * spec.grid.stride[2];
          grid[at] = {T{2}, T{-1}};
          expected[at] = a.weight * b.weight * c.weight;
          sum += expected[at];
        }
    std::complex<T> value;
    gridder->interpolate(grid.data(), spec.grid.elements, nullptr, &value, 1, 1);
    const double tolerance = 200 * double{std::numeric_limits<T>::epsilon()} * std::max(1.0, sum);
    EXPECT_NEAR(value.real(), 2 * sum, tolerance) << start;
    EXPECT_NEAR(value.imag(), -sum, tolerance) << start;
    const std::complex<T> strength(T{1}, T{3});
    gridder->spread(&strength, 1, nullptr, grid.data(), spec.grid.elements, 1);
    double difference = 0;
    bool outside = false;
    for (std::int64_t i = 0; i < grid.size(); ++i) {
      const double re = double{grid[i].real()} - expected[i], im = double{grid[i].imag()} - 3 * expected[i];
      difference = std::max(difference, std::max(std::abs(re), std::abs(im)));
      outside |= expected[i] == 0 && grid[i] != std::complex<T>();
    }
    EXPECT_LE(difference, tolerance) << start;
    EXPECT_FALSE(outside) << start;
  }
}

TEST(Gridder, WindowsStraightInTheGridTouchNothingElse) {
  for (int dim = 1; dim <= 3; ++dim)
    for (int width = 2; width <= 16; ++width) {
      const std::int64_t cells = width % 2 == 0 || dim > 1 ? 64 : 62;  // rows of whole lines, and others
      check_direct_window<float>(dim, width, cells);
      check_direct_window<double>(dim, width, cells);
    }
}

}  // namespace
}  // namespace fourtune::runtime::cpu
