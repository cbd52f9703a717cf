// A grid in layers (GridLayers) along its last dimension, and in 3D along y too: what several processes spread into
// their layers adds up to what one spreads into the whole grid, and they interpolate the same values from their parts.
#include <gtest/gtest.h>

#include "tests/runtime/gridder_reference.h"

namespace fourtune::runtime::cpu {
namespace {

// Cells first .. end of a dimension, in layers of `cells`, and as many shared ones behind each as a window reaches.
GridLayers layers_of(std::int64_t first, std::int64_t end, std::int64_t cells, int width) {
  GridLayers layers;
  layers.first = first;
  layers.cells = cells;
  layers.count = (end - first + cells - 1) / cells;
  layers.stored = cells + width - 1;
  layers.last_cells = end - first - (layers.count - 1) * cells;
  return layers;
}

// The grid with these layers along y and z; with none a dimension is whole.
GridShape layered(const GridShape& whole, const std::array<GridLayers, 3>& layers, std::int64_t element) {
  auto stored = whole.fine;
  for (std::size_t d = 0; d < 3; ++d)
    if (layers[d].count > 0) stored[d] = layers[d].last_place() + 1;
  GridShape shape = padded_shape(whole.dim, stored, element);
  shape.fine = whole.fine;
  shape.layers = layers;
  return shape;
}
GridShape layered(const GridShape& whole, std::int64_t first, std::int64_t end, std::int64_t cells, int width,
                  std::int64_t element) {
  std::array<GridLayers, 3> layers;
  layers[static_cast<std::size_t>(whole.dim - 1)] = layers_of(first, end, cells, width);
  return layered(whole, layers, element);
}

// Rows of tiles along a dimension.
struct Rows {
  std::int64_t first = 0, end = 0;
};

template <class T>
class Layers {
  using Complex = std::complex<T>;

 public:
  Layers(int dim, SpreadFamily spread, InterpFamily interp) : last_(static_cast<std::size_t>(dim - 1)) {
    spec_ = make_spec(dim, dim == 2 ? std::array<std::int64_t, 3>{30, 45, 1} : std::array<std::int64_t, 3>{20, 24, 45},
                      6, sizeof(Complex));
    spec_.sort.tile = {16, 8, 8};
    if (dim == 2) spec_.sort.tile = {16, 8, 1};
    spec_.spread.family = spread;
    spec_.interp.family = interp;
    points_ = make_points<T>(Kind::far, dim, 400, 0, 17);
    map_.factor.fill(kInverseTwoPi);
    std::mt19937_64 engine(3);
    std::uniform_real_distribution<double> any(-1, 1);
    for (std::int64_t j = 0; j < points_.size(); ++j) values_.emplace_back(any(engine), any(engine));
    whole_.resize(static_cast<std::size_t>(spec_.grid.elements));
    const auto gridder = make_gridder<T>(spec_);
    set(*gridder, points_);
    gridder->spread(values_.data(), 0, nullptr, whole_.data(), 0, 1);
    right_.resize(values_.size());
    gridder->interpolate(whole_.data(), 0, nullptr, right_.data(), 0, 1);
    tiles_.resize(values_.size());
    gridder->tiles_of(points_.size(), points_.data(0, dim), points_.data(1, dim), points_.data(2, dim), map_,
                      tiles_.data());
    counts_ = gridder->tile_counts();
  }

  // One process has these rows of tiles along the last dimension and, if `y` says any, along y; each of them is a
  // layer, or all of them together.
  void part(const Rows& last, bool layer_per_row, const Rows& y = {}) {
    GridderSpec spec = spec_;
    std::array<GridLayers, 3> layers;
    const auto cut = [&](std::size_t d, const Rows& rows) {
      const std::int64_t side = spec_.sort.tile[d], begin = rows.first * side,
                         stop = std::min(rows.end * side, spec_.grid.fine[d]);
      layers[d] = layers_of(begin, stop, layer_per_row ? side : stop - begin, spec.window.width);
    };
    cut(last_, last);
    if (y.end > 0) cut(1, y);
    spec.grid = layered(spec_.grid, layers, sizeof(Complex));
    Points<T> own;
    std::vector<std::size_t> which;
    std::vector<Complex> values;
    for (std::size_t j = 0; j < values_.size(); ++j) {
      if (!has(last, row(j, last_)) || (y.end > 0 && !has(y, row(j, 1)))) continue;
      for (std::size_t d = 0; d <= last_; ++d) own.c[d].push_back(points_.c[d][j]);
      values.push_back(values_[j]);
      which.push_back(j);
    }
    const auto gridder = make_gridder<T>(spec);
    set(*gridder, own);
    std::vector<Complex> grid(static_cast<std::size_t>(spec.grid.elements));
    gridder->spread(values.data(), 0, nullptr, grid.data(), 0, 1);
    for_each_place(spec.grid, [&](std::size_t stored, std::size_t at) { sum_[at] += grid[stored]; });
    for_each_place(spec.grid, [&](std::size_t stored, std::size_t at) { grid[stored] = whole_[at]; });
    std::vector<Complex> result(values.size());
    gridder->interpolate(grid.data(), 0, nullptr, result.data(), 0, 1);
    for (std::size_t i = 0; i < which.size(); ++i) EXPECT_NEAR(std::abs(result[i] - right_[which[i]]), 0, 1e-4);
  }

  void expect_whole() {
    for_each_place(spec_.grid,
                   [&](std::size_t, std::size_t at) { EXPECT_NEAR(std::abs(sum_[at] - whole_[at]), 0, 1e-4) << at; });
    sum_.assign(whole_.size(), {});
  }
  std::int64_t rows() const { return rows(last_); }
  std::int64_t rows(std::size_t d) const { return counts_[d]; }

 private:
  static bool has(const Rows& rows, std::int64_t row) { return row >= rows.first && row < rows.end; }
  std::int64_t row(std::size_t j, std::size_t d) const {
    std::int64_t tile = tiles_[j];
    for (std::size_t before = 0; before < d; ++before) tile /= counts_[before];
    return tile % counts_[d];
  }
  void set(Gridder<T>& gridder, const Points<T>& points) const {
    const int dim = spec_.grid.dim;
    gridder.set_points(points.size(), points.data(0, dim), points.data(1, dim), points.data(2, dim), map_);
  }
  // Calls f(element of this grid, element of the whole grid) for every stored cell.
  template <class F>
  void for_each_place(const GridShape& grid, F f) {
    sum_.resize(whole_.size());
    const auto places = [&](std::size_t d) {
      return grid.layers[d].count > 0 ? grid.layers[d].last_place() + 1 : grid.fine[d];
    };
    const auto cell = [&](std::size_t d, std::int64_t p) {
      const GridLayers& layers = grid.layers[d];
      if (layers.count == 0) return p;
      return (layers.first + p / layers.stored * layers.cells + p % layers.stored) % grid.fine[d];
    };
    for (std::int64_t z = 0; z < places(2); ++z)
      for (std::int64_t y = 0; y < places(1); ++y)
        for (std::int64_t x = 0; x < grid.fine[0]; ++x) {
          const auto& there = spec_.grid.stride;
          f(static_cast<std::size_t>(z * grid.stride[2] + y * grid.stride[1] + x),
            static_cast<std::size_t>(cell(2, z) * there[2] + cell(1, y) * there[1] + x));
        }
  }

  std::size_t last_;
  GridderSpec spec_;
  Points<T> points_;
  PointMap map_;
  std::vector<Complex> values_, whole_, right_, sum_;
  std::vector<std::int32_t> tiles_;
  std::array<std::int64_t, 3> counts_{};
};

template <class T>
void every_cut(int dim) {
  for (const auto spread : {SpreadFamily::subgrid, SpreadFamily::colour_index})
    for (const auto interp : {InterpFamily::tile, InterpFamily::direct}) {
      Layers<T> layers(dim, spread, interp);
      for (const bool layer_per_row : {false, true}) {
        layers.part({0, 2}, layer_per_row);
        layers.part({2, 3}, layer_per_row);
        layers.part({3, layers.rows()}, layer_per_row);
        layers.expect_whole();
        layers.part({0, layers.rows()}, layer_per_row);
        layers.expect_whole();
        if (dim < 3) continue;
        for (const Rows& z : {Rows{0, 4}, Rows{4, layers.rows()}})
          for (const Rows& y : {Rows{0, 1}, Rows{1, layers.rows(1)}}) layers.part(z, layer_per_row, y);
        layers.expect_whole();
        layers.part({0, layers.rows()}, layer_per_row, {0, layers.rows(1)});
        layers.expect_whole();
      }
    }
}

TEST(GridderLayers, PartsAddUpToTheWholeGrid) {
  every_cut<float>(2);
  every_cut<double>(2);
  every_cut<float>(3);
  every_cut<double>(3);
}

TEST(GridderLayers, APointOutsideIsRefused) {
  GridderSpec spec = make_spec(2, {32, 64, 1}, 5, sizeof(std::complex<double>));
  spec.sort.tile = {16, 8, 1};
  spec.grid = layered(spec.grid, 0, 16, 16, 5, sizeof(std::complex<double>));
  const auto gridder = make_gridder<double>(spec);
  PointMap map;
  map.factor.fill(kInverseTwoPi);
  const double inside = 0.5, outside = 4;
  EXPECT_NO_THROW(gridder->set_points(1, &inside, &inside, nullptr, map));
  EXPECT_THROW(gridder->set_points(1, &inside, &outside, nullptr, map), Error);
}

TEST(GridderLayers, APointOutsideAlongYIsRefused) {
  GridderSpec spec = make_spec(3, {32, 64, 64}, 5, sizeof(std::complex<double>));
  spec.sort.tile = {16, 8, 8};
  spec.grid = layered(spec.grid, {GridLayers{}, layers_of(16, 32, 16, 5), layers_of(0, 32, 8, 5)},
                      sizeof(std::complex<double>));
  const auto gridder = make_gridder<double>(spec);
  PointMap map;
  map.factor.fill(kInverseTwoPi);
  const double x = 6, y = 2.2, z = 1, outside = 4;
  EXPECT_NO_THROW(gridder->set_points(1, &x, &y, &z, map));
  EXPECT_THROW(gridder->set_points(1, &x, &outside, &z, map), Error);
  EXPECT_THROW(gridder->set_points(1, &x, &y, &outside, map), Error);
  GridderSpec along_x = spec;
  along_x.grid.layers[0] = layers_of(0, 16, 16, 5);
  EXPECT_THROW(make_gridder<double>(along_x), Error);
}

TEST(GridderLayers, LayersAreWholeTiles) {
  GridderSpec spec = make_spec(2, {32, 64, 1}, 5, sizeof(std::complex<double>));
  spec.sort.tile = {16, 8, 1};
  GridderSpec off = spec;
  off.grid = layered(spec.grid, 4, 16, 12, 5, sizeof(std::complex<double>));
  EXPECT_THROW(make_gridder<double>(off), Error);
  off = spec;
  off.grid = layered(spec.grid, 0, 24, 12, 5, sizeof(std::complex<double>));
  EXPECT_THROW(make_gridder<double>(off), Error);
  off = spec;
  off.sort.family = SortFamily::none;
  off.grid = layered(spec.grid, 0, 16, 16, 5, sizeof(std::complex<double>));
  EXPECT_THROW(make_gridder<double>(off), Error);
}

}  // namespace
}  // namespace fourtune::runtime::cpu
