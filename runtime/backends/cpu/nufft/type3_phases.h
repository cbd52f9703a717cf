// The maps from points to grids and the factors of points that executors of a type 3 share.
#pragma once

#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <numbers>

#include "generator/window/fourier.h"
#include "runtime/backends/cpu/base/buffer.h"
#include "runtime/backends/cpu/base/team.h"
#include "runtime/backends/cpu/gridder/gridder.h"
#include "runtime/backends/cpu/nufft/type3_parameters.h"

namespace fourtune::runtime::cpu {

// The angle of a phase that is a product of exp(i a b). The rounding errors of products and sums are tracked, because
// |a b| may be large.
struct Angle {
  double sum = 0, error = 0;
  void add(double a, double b) {
    const double product = a * b, total = sum + product, part = total - sum;
    error += std::fma(a, b, -product) + ((sum - (total - part)) + (product - part));
    sum = total;
  }
  std::complex<double> phase() const {
    const double c = std::cos(sum), s = std::sin(sum);
    return {c - error * s, s + error * c};
  }
};

struct Type3Geometry {
  int dim = 1;
  int sign = 1;
  std::array<Type3Dimension, 3> along;

  PointMap source_map() const {
    PointMap map;
    for (int d = 0; d < dim; ++d) {
      const Type3Dimension& g = along[d];
      set_map(map, d, g.source_centre, 1 / static_cast<long double>(g.spacing), g.outer, g.middle);
    }
    return map;
  }
  PointMap target_map() const {
    PointMap map;
    for (int d = 0; d < dim; ++d) {
      const Type3Dimension& g = along[d];
      const long double cells_per_unit = static_cast<long double>(g.spacing) * static_cast<long double>(g.inner) /
                                         (2 * std::numbers::pi_v<long double>);
      set_map(map, d, g.target_centre, cells_per_unit, g.held, g.part);
    }
    return map;
  }

  // before_j = exp(+-i D.x'_j), for all m sources; an empty array where all are 1.
  template <class T>
  void before(const T* const* sources, std::int64_t m, int threads, Buffer<std::complex<T>>& before) const {
    bool shifted = false;
    for (int d = 0; d < dim; ++d) shifted |= along[d].target_centre != 0;
    if (!shifted) {
      before = {};
      return;
    }
    before.resize(m);
    parallel_for(m > kShared ? threads : 1, m, [&](std::int64_t j) {
      Angle angle;
      for (int d = 0; d < dim; ++d)
        if (along[d].target_centre != 0) {  // added separately: their difference is rounded
          angle.add(sign * along[d].target_centre, sources[d][j]);
          angle.add(sign * along[d].target_centre, -along[d].source_centre);
        }
      before[j] = std::complex<T>(angle.phase());
    });
  }
  // after_l = exp(+-i s_l.C) / prod_d phihat(h s'_d), for all k targets; phihat: of the outer window.
  template <class T>
  void after(const T* const* targets, std::int64_t k, const generator::FourierInterpolant& phihat, int threads,
             Buffer<std::complex<T>>& after) const {
    bool off_centre = false;
    for (int d = 0; d < dim; ++d) off_centre |= along[d].source_centre != 0;
    after.resize(k);
    parallel_for(k > kShared ? threads : 1, k, [&](std::int64_t l) {
      double deconvolve = 1;
      for (int d = 0; d < dim; ++d) deconvolve *= phihat(along[d].spacing * (targets[d][l] - along[d].target_centre));
      if (!off_centre) {
        after[l] = static_cast<T>(1 / deconvolve);
        return;
      }
      Angle angle;
      for (int d = 0; d < dim; ++d)
        if (along[d].source_centre != 0) angle.add(sign * along[d].source_centre, targets[d][l]);
      after[l] = std::complex<T>(angle.phase() / deconvolve);
    });
  }

 private:
  static void set_map(PointMap& map, int d, double centre, long double cells_per_unit, std::int64_t cells,
                      bool middle) {
    const generator::Type3Map found = generator::type3_map(centre, cells_per_unit, cells, middle);
    map.centre[d] = found.centre, map.centre_low[d] = found.centre_low;
    map.factor[d] = found.factor, map.factor_low[d] = found.factor_low;
  }
  static constexpr std::int64_t kShared = 4096;  // with at least this many points, several threads pay off
};

// The conjugates of factors, once; an empty array has none.
template <class T>
void conjugate_once(const Buffer<std::complex<T>>& from, Buffer<std::complex<T>>& to) {
  if (from.size() == 0 || to.size() != 0) return;
  to = Buffer<std::complex<T>>(from.size());
  for (std::int64_t i = 0; i < from.size(); ++i) to[i] = std::conj(from[i]);
}

}  // namespace fourtune::runtime::cpu
