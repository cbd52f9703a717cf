// The gridder against sums in higher precision that know nothing of tiles, records or polynomials.
#include "runtime/cpu/gridder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "fmt/format.h"
#include "fourtune/status.h"
#include "generator/window.h"
#include "runtime/cpu/buffer.h"

namespace fourtune::runtime::cpu {
namespace {

using generator::AddRule;
using generator::InterpFamily;
using generator::SortFamily;
using generator::SpreadFamily;
using generator::WindowKind;
__extension__ typedef __float128 Quad;

constexpr double kInverseTwoPi = 0.15915494309189535;
constexpr double kInverseTwoPiLow = -9.839338337591243e-18;

template <class T>
struct Points {
  std::vector<T> c[3];
  std::int64_t size() const { return static_cast<std::int64_t>(c[0].size()); }
  const T* data(int d, int dim) const { return d < dim ? c[d].data() : nullptr; }
};

enum class Kind { interior, wrapping, clustered, on_cells, at_pi, far, empty, single };
constexpr Kind kKinds[] = {Kind::interior, Kind::wrapping, Kind::clustered, Kind::on_cells,
                           Kind::at_pi,    Kind::far,      Kind::empty,     Kind::single};

template <class T>
Points<T> make_points(Kind kind, int dim, std::int64_t m, std::int64_t fine, unsigned seed) {
  std::mt19937_64 engine(seed);
  std::uniform_real_distribution<double> unit(-1, 1);
  const double pi = std::numbers::pi;
  if (kind == Kind::empty) m = 0;
  if (kind == Kind::single) m = 1;
  Points<T> p;
  for (int d = 0; d < dim; ++d) {
    for (std::int64_t j = 0; j < m; ++j) {
      const double r = unit(engine);
      double x = pi * r;
      if (kind == Kind::interior) x = r < 0 ? 0.8 + 0.9 * (r + 1) : -2.2 + 0.9 * r;
      if (kind == Kind::wrapping) x = 0.05 * r;  // cell 0 is the angle 0: half of these windows wrap
      if (kind == Kind::clustered) x = 1 + 1e-3 * r;
      if (kind == Kind::on_cells) x = 2 * pi * std::floor(r * static_cast<double>(fine)) / static_cast<double>(fine);
      if (kind == Kind::at_pi) x = r < 0 ? -pi : pi;
      if (kind == Kind::far) x = 1e6 * r;
      p.c[d].push_back(static_cast<T>(x));
    }
  }
  return p;
}

template <class T>
std::vector<std::complex<T>> random_values(std::int64_t n, unsigned seed) {
  std::mt19937_64 engine(seed);
  std::uniform_real_distribution<double> unit(-1, 1);
  std::vector<std::complex<T>> v(n);
  for (auto& c : v) c = {static_cast<T>(unit(engine)), static_cast<T>(unit(engine))};
  return v;
}

GridderSpec make_spec(int dim, std::array<std::int64_t, 3> fine, int width, std::int64_t element_bytes) {
  GridderSpec spec;
  spec.grid = padded_shape(dim, fine, element_bytes);
  spec.window.kind = WindowKind::kaiser_bessel;  // analytic up to its ends: fits to rounding
  spec.window.width = width;
  spec.window.sigma = 2;
  spec.accuracy = 1e-16;
  spec.threads = 2;
  spec.sort.tile = dim == 1 ? std::array{16, 1, 1} : dim == 2 ? std::array{8, 16, 1} : std::array{12, 8, 8};
  spec.sort.local = dim == 3;
  return spec;
}

PointMap radians() { return {{0, 0, 0}, {kInverseTwoPi, kInverseTwoPi, kInverseTwoPi}}; }

// Weights of one coordinate onto the whole ring of cells.
struct Tap {
  std::int64_t cell;
  double weight;
};
template <class T>
std::vector<Tap> taps(T x, double centre, Quad factor, std::int64_t fine, const generator::Window& window) {
  const Quad p = (Quad{x} - Quad{centre}) * factor;
  const int w = window.width();
  Quad whole = static_cast<Quad>(static_cast<std::int64_t>(p));
  if (whole > p) whole -= 1;
  const Quad u = (p - whole) * static_cast<Quad>(fine);
  const Quad v = u - Quad{0.5 * w};
  auto i0 = static_cast<std::int64_t>(v);
  while (static_cast<Quad>(i0) < v) ++i0;
  while (static_cast<Quad>(i0 - 1) >= v) --i0;
  std::vector<Tap> out;
  for (int q = 0; q < w; ++q) {
    const double at = static_cast<double>(2 * (static_cast<Quad>(i0 + q) - u) / Quad{1.0 * w});
    out.push_back({((i0 + q) % fine + fine) % fine, window.value(at)});
  }
  return out;
}

template <class T>
struct Reference {
  std::vector<std::vector<Tap>> axis[3];  // [d][point]
  const GridderSpec& spec;
  Reference(const GridderSpec& s, const Points<T>& points, const PointMap& map = radians()) : spec(s) {
    const auto& w = s.window;
    const generator::Window window =
        s.beta > 0 ? generator::Window(w.kind, w.width, w.sigma, s.beta) : generator::Window(w.kind, w.width, w.sigma);
    for (int d = 0; d < 3; ++d) {
      for (std::int64_t j = 0; j < points.size(); ++j) {
        const Quad factor =
            map.factor[d] == kInverseTwoPi ? Quad{kInverseTwoPi} + Quad{kInverseTwoPiLow} : Quad{map.factor[d]};
        axis[d].push_back(d < s.grid.dim ? taps(points.c[d][j], map.centre[d], factor, s.grid.fine[d], window)
                                         : std::vector<Tap>{{0, 1.0}});
      }
    }
  }
  template <class F>
  void each(std::int64_t j, F f) const {
    for (const Tap& z : axis[2][j]) {
      for (const Tap& y : axis[1][j]) {
        for (const Tap& x : axis[0][j]) {
          f(x.cell + y.cell * spec.grid.stride[1] + z.cell * spec.grid.stride[2], x.weight * y.weight * z.weight);
        }
      }
    }
  }
  std::vector<std::complex<double>> spread(const std::complex<T>* values, const std::complex<T>* factor) const {
    std::vector<std::complex<double>> grid(spec.grid.elements);
    for (std::size_t j = 0; j < axis[0].size(); ++j) {
      std::complex<double> v(values[j]);
      if (factor != nullptr) v *= std::complex<double>(factor[j]);
      each(static_cast<std::int64_t>(j), [&](std::int64_t cell, double weight) { grid[cell] += v * weight; });
    }
    return grid;
  }
  std::vector<std::complex<double>> interpolate(const std::complex<T>* grid, const std::complex<T>* factor) const {
    std::vector<std::complex<double>> values(axis[0].size());
    for (std::size_t j = 0; j < values.size(); ++j) {
      each(static_cast<std::int64_t>(j),
           [&](std::int64_t cell, double weight) { values[j] += std::complex<double>(grid[cell]) * weight; });
      if (factor != nullptr) values[j] *= std::complex<double>(factor[j]);
    }
    return values;
  }
};

template <class T>
double relative_error(const std::complex<T>* got, const std::vector<std::complex<double>>& want) {
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < want.size(); ++i) {
    difference += std::norm(std::complex<double>(got[i]) - want[i]);
    norm += std::norm(want[i]);
  }
  return norm > 0 ? std::sqrt(difference / norm) : std::sqrt(difference);
}

template <class T>
double bound() {
  return sizeof(T) == 4 ? 1e-6 : 2e-14;
}

// Spreads and interpolates with and without a factor and compares with the reference.
template <class T>
void expect_right(const GridderSpec& spec, const Points<T>& points, double tolerance, const std::string& what) {
  const std::int64_t m = points.size(), n = spec.grid.elements;
  const int dim = spec.grid.dim;
  const Reference<T> reference(spec, points);
  auto gridder = make_gridder<T>(spec);
  gridder->set_points(m, points.data(0, dim), points.data(1, dim), points.data(2, dim), radians());
  const auto values = random_values<T>(m, 7), factor = random_values<T>(m, 8), cells = random_values<T>(n, 9);
  std::vector<std::complex<T>> grid(n, std::complex<T>(99)), out(m);
  for (const std::complex<T>* f : {static_cast<const std::complex<T>*>(nullptr), factor.data()}) {
    gridder->spread(values.data(), m, f, grid.data(), n, 1);
    EXPECT_LT(relative_error(grid.data(), reference.spread(values.data(), f)), tolerance) << what << " spread";
    gridder->interpolate(cells.data(), n, f, out.data(), m, 1);
    EXPECT_LT(relative_error(out.data(), reference.interpolate(cells.data(), f)), tolerance) << what << " interpolate";
  }
}

std::array<std::int64_t, 3> small_grid(int dim) {
  if (dim == 1) return {90, 1, 1};
  if (dim == 2) return {45, 40, 1};
  return {30, 27, 25};
}

struct Family {
  const char* name;
  SortFamily sort;
  bool copy;
  SpreadFamily spread;
  AddRule add;
  InterpFamily interp;
};
constexpr Family kFamilies[] = {
    {"subgrid lock", SortFamily::tiles, true, SpreadFamily::subgrid, AddRule::lock, InterpFamily::tile},
    {"subgrid colour", SortFamily::tiles, true, SpreadFamily::subgrid, AddRule::colour, InterpFamily::direct},
    {"subgrid by index", SortFamily::tiles, false, SpreadFamily::subgrid, AddRule::lock, InterpFamily::tile},
    {"atomic sorted", SortFamily::tiles, true, SpreadFamily::atomic, AddRule::lock, InterpFamily::direct},
    {"atomic unsorted", SortFamily::none, true, SpreadFamily::atomic, AddRule::lock, InterpFamily::direct},
    {"unsorted with tile families", SortFamily::none, true, SpreadFamily::subgrid, AddRule::lock, InterpFamily::tile},
    {"colour index", SortFamily::tiles, true, SpreadFamily::colour_index, AddRule::lock, InterpFamily::direct},
    {"colour index only", SortFamily::none, false, SpreadFamily::colour_index, AddRule::lock, InterpFamily::tile},
    {"colour list", SortFamily::tiles, true, SpreadFamily::colour_list, AddRule::lock, InterpFamily::tile},
};

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
    // The semicircle's ends are square roots, which polynomials follow slowly.
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
    EXPECT_LT(error, last / 10);  // second order: 16 times better each
    last = error;
  }
  EXPECT_LT(last, 1e-6);
}

// Windows that are wider than the grid wrap several times around.
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

// The shapes that break indexing: tiles larger than the grid, of one cell, narrower than the window, a small last tile.
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

template <class T>
void adjointness(int dim, const Family& f) {
  GridderSpec spec = make_spec(dim, small_grid(dim), 4, sizeof(std::complex<T>));
  spec.sort.family = f.sort;
  spec.sort.copy = f.copy;
  spec.spread = {f.spread, 100, f.add};
  spec.interp = {f.interp, 100};
  spec.accuracy = 1e-3;  // adjoint to rounding even where the window itself is coarse
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
TEST(Gridder, SpreadAndInterpolateAreAdjointToRounding) {
  for (int dim = 1; dim <= 3; ++dim) {
    for (const Family& f : kFamilies) {
      adjointness<float>(dim, f);
      adjointness<double>(dim, f);
    }
  }
}

TEST(Gridder, DeterministicGridsAreBitIdenticalForAnyThreadCount) {
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

TEST(Gridder, BatchEqualsALoopOfSingleTransforms) {
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
  // The gridder stays usable.
  const auto good = make_points<T>(Kind::far, dim, 10, 0, 3);
  gridder->set_points(good.size(), good.data(0, dim), good.data(1, dim), good.data(2, dim), radians());
  const auto values = random_values<T>(good.size(), 1);
  std::vector<std::complex<T>> grid(spec.grid.elements);
  gridder->spread(values.data(), 0, nullptr, grid.data(), 0, 1);
  EXPECT_LT(relative_error(grid.data(), Reference<T>(spec, good).spread(values.data(), nullptr)), 1e-5);
}
TEST(Gridder, TheFirstBadPointAndItsDimensionAreNamed) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  for (const Family& f : kFamilies) {
    for (int d = 0; d < 3; ++d) {
      first_bad_point<double>(3, d, d == 1 ? inf : -inf, f);
      first_bad_point<float>(3, d, std::numeric_limits<float>::quiet_NaN(), f);
    }
    first_bad_point<float>(1, 0, std::numeric_limits<float>::infinity(), f);
  }
}

TEST(Gridder, CoordinatesMayBeFreedAfterSetPoints) {
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

TEST(Gridder, PaddedShapesKeepRowsApartAndCheckOverflow) {
  for (const std::int64_t bytes : {8, 16}) {
    const GridShape g = padded_shape(3, {512, 512, 416}, bytes);
    EXPECT_EQ(g.stride[0], 1);
    EXPECT_GE(g.stride[1], 512);
    EXPECT_LT(g.stride[1], 512 + 64);
    EXPECT_EQ(g.stride[1] * bytes / 64 % 2, 1);
    EXPECT_EQ(g.stride[2] * bytes / 64 % 2, 1);
    EXPECT_GE(g.elements, g.stride[2] * 416);
  }
  EXPECT_EQ(padded_shape(1, {1, 1, 1}, 16).elements, 1);
  EXPECT_THROW(padded_shape(3, {std::int64_t{1} << 31, std::int64_t{1} << 31, 8}, 8), Error);
}

TEST(Gridder, CombinationsThatNothingCoversAreRefused) {
  GridderSpec spec = make_spec(2, small_grid(2), 17, 16);
  EXPECT_THROW(make_gridder<double>(spec), Error);
  spec = make_spec(2, small_grid(2), 4, 16);
  spec.threads = 0;
  EXPECT_THROW(make_gridder<double>(spec), Error);
  spec = make_spec(2, small_grid(2), 4, 16);
  spec.grid.fine[1] = std::int64_t{1} << 40;
  EXPECT_THROW(make_gridder<double>(spec), Error);
}

// Straight from and to the grid, rows are read and written by whole lines: cells outside the window must not count, and
// must not change, wherever in its lines a window starts.
template <class T>
void check_direct_window(int dim, int width, std::int64_t cells) {
  SCOPED_TRACE(fmt::format("dim {} width {} cells {} bytes {}", dim, width, cells, sizeof(T)));
  const std::array<std::int64_t, 3> fine{cells, dim > 1 ? 30 : 1, dim > 2 ? 18 : 1};
  GridderSpec spec = make_spec(dim, fine, width, 2 * sizeof(T));
  spec.sort.tile = {16, 8, 8};
  spec.sort.local = false;
  spec.spread.family = SpreadFamily::colour_index;
  spec.interp.family = InterpFamily::direct;
  const auto gridder = make_gridder<T>(spec);
  const generator::Window window(spec.window.kind, width, spec.window.sigma);
  for (int start = 0; start < 17; ++start) {
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
    for (std::int64_t i = 0; i < grid.size(); ++i) {
      ASSERT_NEAR(grid[i].real(), expected[i], tolerance) << start << " " << i;
      ASSERT_NEAR(grid[i].imag(), 3 * expected[i], tolerance) << start << " " << i;
      if (expected[i] == 0) {
        ASSERT_EQ(grid[i], std::complex<T>()) << start << " " << i;
      }
    }
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
