// What spreading and interpolation cost on a GPU: the part of the cost model (cost.cpp) that also chooses among
// families and tiles (choices.cpp).
#pragma once

#include <array>
#include <cmath>

#include "generator/codegen/nufft/kernels.h"

namespace fourtune::generator::gpu_nufft {

// One spreading or interpolation kernel.
struct Gridding {
  int dim = 3, width = 6;
  Precision precision = Precision::f32;
  std::array<double, 3> fine{1, 1, 1};
  double points = 0;
  double share = 1;  // share of the grid that has points
  std::int64_t l2_bytes = h200::l2_bytes;
  double together = 1;  // transforms of a launch
  double cells() const { return fine[0] * fine[1] * fine[2]; }
  double stencil() const { return std::pow(width, dim); }
  double complex_bytes() const { return 2.0 * static_cast<double>(real_bytes(precision)); }
  bool f32() const { return precision == Precision::f32; }
  // Bytes of the largest grid that stays in the L2 cache: 48 MB in that of an H200.
  double cache() const { return nufft::cached(48e6, l2_bytes); }
  nufft::Shape shape() const {
    nufft::Shape out;
    out.dim = dim, out.precision = precision, out.width = width, out.l2_bytes = l2_bytes;
    for (std::size_t d = 0; d < 3; ++d) out.fine[d] = static_cast<std::int64_t>(fine[d]);
    return out;
  }
};

inline Gridding gridding_of(const nufft::Shape& shape, double points, double share = 1) {
  Gridding out{shape.dim, shape.width, shape.precision, {}, points, share, shape.l2_bytes, 1};
  for (std::size_t d = 0; d < 3; ++d) out.fine[d] = static_cast<double>(shape.fine[d]);
  return out;
}

// Seconds on an H200 for one transform, or for one of a group.
double spread_seconds(const Gridding& g, nufft::Spread family, const nufft::Parameters& with);
double interpolate_seconds(const Gridding& g, nufft::Interpolate family, const nufft::Parameters& with);

}  // namespace fourtune::generator::gpu_nufft
