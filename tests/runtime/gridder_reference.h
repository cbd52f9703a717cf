// Common parts of the gridder's tests: point clouds, specifications, every family, and sums in higher precision that do
// not use tiles, records or polynomials.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <complex>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "fmt/format.h"
#include "generator/window/window.h"
#include "runtime/backends/cpu/gridder/gridder.h"
#include "runtime/backends/cpu/gridder/turns.h"
#include "tests/runtime/random_values.h"
#include "tests/support/quad.h"

namespace fourtune::runtime::cpu {

using generator::AddRule;
using generator::InterpFamily;
using generator::SortFamily;
using generator::SpreadFamily;
using generator::WindowKind;
using test::Quad;

template <class T>
struct Points {
  std::array<std::vector<T>, 3> c;
  std::int64_t size() const { return static_cast<std::int64_t>(c[0].size()); }
  const T* data(int d, int dim) const { return d < dim ? c[d].data() : nullptr; }
};

enum class Kind { interior, wrapping, clustered, on_cells, at_pi, far, empty, single };
inline constexpr Kind kKinds[] = {Kind::interior, Kind::wrapping, Kind::clustered, Kind::on_cells,
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
      if (kind == Kind::wrapping) x = 0.05 * r;  // cell 0 is at angle 0, so half of these windows wrap
      if (kind == Kind::clustered) x = 1 + 1e-3 * r;
      if (kind == Kind::on_cells) x = 2 * pi * std::floor(r * static_cast<double>(fine)) / static_cast<double>(fine);
      if (kind == Kind::at_pi) x = r < 0 ? -pi : pi;
      if (kind == Kind::far) x = 1e6 * r;
      p.c[d].push_back(static_cast<T>(x));
    }
  }
  return p;
}

inline GridderSpec make_spec(int dim, std::array<std::int64_t, 3> fine, int width, std::int64_t element_bytes) {
  GridderSpec spec;
  spec.grid = padded_shape(dim, fine, element_bytes);
  spec.window.kind = WindowKind::kaiser_bessel;  // analytic up to its ends, so polynomials fit it to rounding
  spec.window.width = width;
  spec.window.sigma = 2;
  spec.accuracy = 1e-16;
  spec.threads = 2;
  spec.sort.tile = dim == 1 ? std::array{16, 1, 1} : dim == 2 ? std::array{8, 16, 1} : std::array{12, 8, 8};
  spec.sort.local = dim == 3;
  return spec;
}

inline PointMap radians() { return {{0, 0, 0}, {kInverseTwoPi, kInverseTwoPi, kInverseTwoPi}}; }

// The weights of one coordinate for the whole ring of cells.
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
  template <class C>
  Reference(const GridderSpec& s, const Points<C>& points, const PointMap& map = radians()) : spec(s) {
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

// Spreads and interpolates with and without a factor, and compares with the reference.
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

inline std::array<std::int64_t, 3> small_grid(int dim) {
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
inline constexpr Family kFamilies[] = {
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

}  // namespace fourtune::runtime::cpu
