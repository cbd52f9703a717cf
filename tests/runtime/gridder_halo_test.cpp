// A grid with a halo (GridShape::halo) has the same sums and gives the same values as one whose windows wrap around:
// with so few points that they are scattered, with enough for private tiles, with both, and unsorted in one dimension.
#include <gtest/gtest.h>

#include "runtime/backends/cpu/base/buffer.h"
#include "runtime/backends/cpu/gridder/layout.h"
#include "tests/runtime/gridder_reference.h"
#include "tests/support/turns.h"

namespace fourtune::runtime::cpu {
namespace {

struct HaloCase {
  int dim, width, threads, batch;
  std::int64_t points;
  Kind kind;
  bool unsorted = false, deterministic = false;
  std::int64_t line = 110;  // cells in one dimension
  int tile = 0;             // cells of a tile in one dimension; 0: as usual
  int skew = 0;             // elements between a cache line and the first grid
  bool pairs = false;
};

template <class T>
class Halo {
  using Complex = std::complex<T>;

 public:
  explicit Halo(const HaloCase& c) : c_(c), points_(make_points<T>(c.kind, c.dim, c.points, 0, 5)) {
    // The last tile of every dimension has fewer cells; one dimension is hardly longer than a window.
    const std::array<std::int64_t, 3> fine{c.dim == 1 ? c.line : 34, c.dim > 1 ? 37 : 1,
                                           c.dim > 2 ? 2 * c.width + 1 : 1};
    plain_ = make_spec(c.dim, fine, c.width, sizeof(Complex));
    plain_.threads = c.threads;
    halo_ = plain_;
    halo_.grid = halo_shape(c.dim, fine, c.width, sizeof(Complex));
    halo_.deterministic = c.deterministic;
    halo_.pairs = c.pairs;
    if (c.tile > 0) halo_.sort.tile[0] = c.tile;
    if (c.unsorted) {
      halo_.sort.family = generator::SortFamily::none;
      halo_.spread.family = generator::SpreadFamily::atomic;
      halo_.interp.family = generator::InterpFamily::direct;
    }
    std::mt19937_64 engine(3);
    std::uniform_real_distribution<double> any(-1, 1);
    for (std::int64_t i = 0; i < c.batch * points_.size(); ++i) values_.emplace_back(any(engine), any(engine));
  }

  void check() {
    const auto right = gridder(plain_), own = gridder(halo_);
    // What memory holds before must not matter.
    Buffer<Complex> whole_memory, with_memory;
    Complex* const whole = array(plain_.grid, Complex(0), whole_memory);
    Complex* const with = array(halo_.grid, Complex(T(1e30), T(1e30)), with_memory);
    const T scale = std::numeric_limits<T>::epsilon() * 2000;
    for (int round = 0; round < 2; ++round) {
      right->spread(values_.data(), points_.size(), nullptr, whole, plain_.grid.elements, c_.batch);
      own->spread(values_.data(), points_.size(), nullptr, with, halo_.grid.elements, c_.batch);
      each_cell([&](std::size_t a, std::size_t b) { ASSERT_LE(std::abs(whole[a] - with[b]), scale) << name(); });
    }
    std::vector<Complex> expected(values_.size()), got(values_.size());
    std::fill_n(with, halo_.grid.elements * c_.batch, Complex(std::numeric_limits<T>::quiet_NaN()));
    each_cell([&](std::size_t a, std::size_t b) { with[b] = whole[a]; });
    right->interpolate(whole, plain_.grid.elements, nullptr, expected.data(), points_.size(), c_.batch);
    own->interpolate(with, halo_.grid.elements, nullptr, got.data(), points_.size(), c_.batch);
    double size = 1;
    for (const Complex& v : expected) size = std::max<double>(size, std::abs(v));
    for (std::size_t j = 0; j < got.size(); ++j) ASSERT_LE(std::abs(got[j] - expected[j]), scale * size) << name();
  }

  // What is held after use is at most what was promised before any points were set.
  void check_memory() {
    const auto own = make_gridder<T>(halo_);
    const std::int64_t promised = own->bytes() + own->more_bytes(points_.size(), c_.batch);
    set_points(*own);
    Buffer<Complex> memory;
    Complex* const grids = array(halo_.grid, Complex(0), memory);
    own->spread(values_.data(), points_.size(), nullptr, grids, halo_.grid.elements, c_.batch);
    own->interpolate(grids, halo_.grid.elements, nullptr, values_.data(), points_.size(), c_.batch);
    constexpr std::int64_t kLists = 64 << 10;  // of tiles
    const std::int64_t points = points_.size() * static_cast<std::int64_t>(4 + c_.dim * sizeof(T));
    EXPECT_LE(own->bytes(), promised + points + kLists) << name();
    if (points_.size() > 1000) {
      EXPECT_GE(own->bytes() + kLists, promised / 8) << name();
    } else if (c_.dim == 3) {  // so few points go straight to and from the grid
      const auto tile = static_cast<std::int64_t>(2 * sizeof(T)) *
                        make_tiling(3, halo_.grid.fine, c_.width, halo_.sort.tile, 2 * sizeof(T)).private_elements();
      EXPECT_LT(own->bytes(), tile) << "a private tile that nobody needs: " << name();
    }
  }

 private:
  std::unique_ptr<Gridder<T>> gridder(const GridderSpec& spec) const {
    auto made = make_gridder<T>(spec);
    set_points(*made);
    return made;
  }
  void set_points(Gridder<T>& gridder) const {
    gridder.set_points(points_.size(), points_.data(0, c_.dim), points_.data(1, c_.dim), points_.data(2, c_.dim),
                       radians());
  }
  Complex* array(const GridShape& shape, Complex filled, Buffer<Complex>& memory) const {
    memory.resize(shape.elements * c_.batch + c_.skew);
    std::fill_n(memory.data(), memory.size(), filled);
    return memory.data() + c_.skew;
  }
  // f(place without a halo, place with one) for every cell of every grid.
  template <class F>
  void each_cell(F f) const {
    const GridShape &a = plain_.grid, &b = halo_.grid;
    for (std::int64_t t = 0; t < c_.batch; ++t)
      for (std::int64_t z = 0; z < a.fine[2]; ++z)
        for (std::int64_t y = 0; y < a.fine[1]; ++y)
          for (std::int64_t x = 0; x < a.fine[0]; ++x)
            f(static_cast<std::size_t>(t * a.elements + x + y * a.stride[1] + z * a.stride[2]),
              static_cast<std::size_t>(t * b.elements + x + y * b.stride[1] + z * b.stride[2]));
  }
  std::string name() const {
    return fmt::format("dim {}, width {}, {} threads, batch {}, {} points of kind {}", c_.dim, c_.width, c_.threads,
                       c_.batch, c_.points, static_cast<int>(c_.kind));
  }

  HaloCase c_;
  Points<T> points_;
  GridderSpec plain_, halo_;
  std::vector<Complex> values_;
};

TEST(GridderHalo, SumsAndValuesAreThoseOfWindowsThatWrapAround) {
  for (const Kind kind : {Kind::far, Kind::wrapping, Kind::clustered, Kind::empty})
    for (int dim = 1; dim <= 3; ++dim)
      for (const int width : {2, 5, 8, 14})
        for (const int threads : {1, 2})
          for (const int batch : {1, 3})
            for (const std::int64_t points : {5, 300, dim == 3 ? 2000 : 4000}) {
              if (!test::next_has_turn()) continue;
              Halo<float>({dim, width, threads, batch, points, kind}).check();
              Halo<double>({dim, width, threads, batch, points, kind}).check();
              if (HasFatalFailure()) return;
            }
}

// Points in the order of pairs, which wide windows are spread in.
TEST(GridderHalo, PairsInAPlaneHaveTheSameSums) {
  for (int width = 9; width <= generator::kMaxWidth; ++width)
    for (const int threads : {1, 2, 5})
      for (const int batch : {1, 3})
        for (const std::int64_t points : {300, 900, 4000})
          for (const Kind kind : {Kind::far, Kind::wrapping, Kind::clustered}) {
            HaloCase c{2, width, threads, batch, points, kind};
            c.pairs = true;
            Halo<double>(c).check();
            Halo<float>(c).check();
            Halo<double>(c).check_memory();
            if (HasFatalFailure()) return;
          }
}

// Single transforms, which are evaluated as they are spread, and tiles that cut cache lines; grids that begin at a
// cache line and ones that do not.
TEST(GridderHalo, SortedPointsOfALineHaveTheSameSumsAndValues) {
  for (int width = generator::kMinWidth; width <= generator::kMaxWidth; ++width)
    for (const int threads : {1, 2, 5})
      for (const int tile : {256, 50})
        for (const int skew : {0, 1})
          for (const Kind kind : {Kind::wrapping, Kind::clustered})
            for (const std::int64_t points : {7, 2000}) {
              if (!test::next_has_turn()) continue;
              Halo<float>({1, width, threads, threads == 5 ? 3 : 1, points, kind, false, false, 999, tile, skew})
                  .check();
              Halo<double>({1, width, threads, threads == 5 ? 3 : 1, points, kind, false, false, 999, tile, skew})
                  .check();
              if (HasFatalFailure()) return;
            }
}

// Cells of a long line are asked for ahead, and two threads have a grid each however large it is.
TEST(GridderHalo, UnsortedPointsOfALongLineHaveTheSameSumsAndValues) {
  for (const int threads : {1, 2, 5})
    for (const int batch : {1, 2})
      for (const Kind kind : {Kind::far, Kind::clustered}) {
        Halo<float>({1, 5, threads, batch, 20000, kind, true, false, 700000}).check();
        Halo<double>({1, 14, threads, batch, 20000, kind, true, false, 300000}).check();
      }
}

TEST(GridderHalo, UnsortedPointsHaveTheSameSumsAndValues) {
  for (const int width : {2, 5, 8, 14})
    for (const int threads : {1, 2, 5})
      for (const int batch : {1, 3, 7})
        for (const std::int64_t points : {0, 5, 300, 4000})
          for (const Kind kind : {Kind::far, Kind::wrapping, Kind::clustered}) {
            if (!test::next_has_turn()) continue;
            Halo<float>({1, width, threads, batch, points, kind, true}).check();
            Halo<double>({1, width, threads, batch, points, kind, true}).check();
            Halo<double>({1, width, threads, batch, points, kind, true, true}).check();
            if (HasFatalFailure()) return;
          }
}

TEST(GridderHalo, WhatThreadsTakeIsPromised) {
  for (int dim = 1; dim <= 3; ++dim)
    for (const int threads : {1, 2, 28})
      for (const int batch : {1, 12})
        for (const std::int64_t points : {40, 20000}) {
          Halo<float>({dim, 6, threads, batch, points, Kind::far}).check_memory();
          Halo<double>({dim, 11, threads, batch, points, Kind::far}).check_memory();
          if (dim == 1) Halo<double>({dim, 11, threads, batch, points, Kind::far, true}).check_memory();
        }
}

TEST(GridderHalo, RowsAreWholeLinesAndHaveRoomForWindows) {
  const GridShape g = halo_shape(3, {10, 9, 8}, 6, 8);
  EXPECT_EQ(g.halo, (std::array<std::int64_t, 3>{7, 5, 5}));
  EXPECT_EQ(g.stride[1] % 8, 0);
  EXPECT_GE(g.stride[1], 17);
  EXPECT_EQ(g.stride[2] % 8, 0);
  EXPECT_GE(g.stride[2], 14 * g.stride[1]);
  EXPECT_GE(g.elements, 13 * g.stride[2]);
}

}  // namespace
}  // namespace fourtune::runtime::cpu
